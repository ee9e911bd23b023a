"""A server of llama.cpp on a free port of this machine, for one model; it ends when stdin ends.

python llama_server.py MODEL CONTEXT_TOKENS KEY
"""

import sys

import xllamacpp

model, context, key = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.n_ctx = int(context)
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
params.api_keys = [key]
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
