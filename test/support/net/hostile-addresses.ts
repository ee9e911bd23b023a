/** Ways to write an address that no fetch may connect to; something listens on `PORT`. */
export const privateHosts: readonly string[] = [
  // Loopback, in every form that the URL standard reads as IPv4.
  ...['127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.1'],
  ...['017700000001', '0177.0.0.1', '0177.1', '127.0.0.1.', '0x7f.0x0.0x0.0x1', '127.0.0.0x1'],
  ...['%31%32%37.0.0.1', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1'],
  // Names that every machine resolves to itself.
  ...['localhost', 'localhost.', 'LOCALHOST', 'LocalHost.', 'loc%61lhost'],
  // Unspecified, which connects to this machine on Linux.
  ...['0.0.0.0', '0', '0x0', '00000', '0.1.2.3', '[::]', '[0:0:0:0:0:0:0:0]'],
  // IPv6 loopback, and IPv4 within IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo.
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::127.0.0.1]', '[::7f00:1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2002:a00:1::1]', '[2001::7f00:1]', '[2001:0:4136:e378:8000:63bf:80ff:fffe]'],
  // Private, shared, link-local with the metadata services of clouds.
  ...['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.0.1', '192.168.1'],
  ...[
    '100.64.0.1',
    '100.100.100.200',
    '169.254.169.254',
    '168.63.129.16',
    '0xa9fea9fe',
    '2852039166',
    '169.254.1.1',
  ],
  ...[
    '[fe80::1]',
    '[febf::1]',
    '[fec0::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '[::ffff:169.254.169.254]',
  ],
  // Multicast, broadcast, benchmarks, documentation, reserved.
  ...['224.0.0.1', '239.255.255.250', '255.255.255.255', '[ff02::1]', '[ff0e::1]'],
  ...['198.18.0.1', '198.19.255.255', '[2001:2::1]', '192.0.2.1', '198.51.100.1', '203.0.113.1'],
  ...[
    '[2001:db8::1]',
    '[3fff::1]',
    '192.0.0.1',
    '192.88.99.1',
    '240.0.0.1',
    '[100::1]',
    '[4000::1]',
  ],
]

/** Addresses that cannot be an audio file, wherever they lead. */
export const unreadableUrls: readonly string[] = [
  ...[
    'http://[fe80::1%25lo]/',
    'http://[::1%25lo]:PORT/',
    'http://[127.0.0.1]:PORT/',
    'http://[::1',
  ],
  ...[
    'http://127.0.0.1:99999/',
    'http://127.0.0.256:PORT/',
    'http://0x7f.0.0.0.1:PORT/',
    'http://:PORT/',
  ],
  ...[
    'file:///etc/passwd',
    'ftp://127.0.0.1:PORT/',
    'gopher://127.0.0.1:PORT/_x',
    'data:audio/wav,x',
  ],
  ...['unix:/run/x.sock', 'javascript:1', '//127.0.0.1:PORT/', 'blob:http://127.0.0.1:PORT/x'],
  ...['ws://127.0.0.1:PORT/', 'http:\\\\127.0.0.1:PORT\\', 'http://127.0.0.1:PORT/\r\nx: y'],
]
