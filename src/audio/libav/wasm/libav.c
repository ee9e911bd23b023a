// What Steno needs of libav (FFmpeg's libraries), as functions of a WebAssembly module. The module
// has no files, no network and no clock: it reads a recording through `host_read` alone. Functions
// return libav's negative error codes; those that return several values write them to `numbers`.
// ../libav.ts declares these functions; build-libav.sh compiles them.

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define BUFFER_BYTES 32768

/** Copies up to `length` bytes of a recording from `position` on to `to`; returns their number. */
__attribute__((import_module("host"), import_name("read"))) int host_read(
    int recording, uint8_t *to, int length, double position);

/** A recording that is being read. */
typedef struct Input {
  AVFormatContext *format;
  /** The last packet that was read. */
  AVPacket *packet;
  int recording;
  int64_t size, position;
} Input;

/** A decoder of one track, with the samples that it has collected at the wanted rate. */
typedef struct Decoder {
  AVCodecContext *codec;
  AVFrame *frame;
  SwrContext *resampler;
  /** The form of the frames that `resampler` takes. */
  AVChannelLayout from_layout;
  int from_format, from_rate;
  AVChannelLayout to_layout;
  float **planes;
  int samples, capacity;
} Decoder;

static double numbers[16];
static char text[256];

/** Where functions that return several values write them. */
EXPORT("numbers") double *get_numbers(void) { return numbers; }
/** Where the caller writes texts, at most 255 bytes and a zero, and where errors are described. */
EXPORT("text") char *get_text(void) { return text; }
EXPORT("describe_error") void describe_error(int code) { av_strerror(code, text, sizeof text); }

static double seconds(int64_t stamp, AVRational base) {
  return stamp == AV_NOPTS_VALUE ? NAN : stamp * av_q2d(base);
}

static int read_bytes(void *opaque, uint8_t *to, int length) {
  Input *input = opaque;
  int count = host_read(input->recording, to, length, input->position);
  if (count < 0) return AVERROR(EIO);
  if (count == 0) return AVERROR_EOF;
  input->position += count;
  return count;
}

static int64_t seek(void *opaque, int64_t offset, int whence) {
  Input *input = opaque;
  if (whence & AVSEEK_SIZE) return input->size;
  whence &= ~AVSEEK_FORCE;
  if (whence == SEEK_CUR) offset += input->position;
  if (whence == SEEK_END) offset += input->size;
  if (offset < 0) return AVERROR(EINVAL);
  return input->position = offset;
}

EXPORT("input_close") void input_close(Input *input) {
  AVIOContext *io = input->format ? input->format->pb : NULL;
  avformat_close_input(&input->format);
  if (io) av_freep(&io->buffer);
  avio_context_free(&io);
  av_packet_free(&input->packet);
  av_free(input);
}

/** Opens a recording with the demuxer that `text` names and no other; returns an Input. */
EXPORT("input_open") intptr_t input_open(int recording, double size, int max_streams) {
  av_log_set_level(AV_LOG_QUIET);
  const AVInputFormat *demuxer = av_find_input_format(text);
  if (!demuxer) return AVERROR_DEMUXER_NOT_FOUND;
  Input *input = av_mallocz(sizeof *input);
  AVFormatContext *format = avformat_alloc_context();
  uint8_t *buffer = av_malloc(BUFFER_BYTES);
  if (!input || !format || !buffer) return AVERROR(ENOMEM);
  input->recording = recording;
  input->size = size;
  input->packet = av_packet_alloc();
  AVIOContext *io = avio_alloc_context(buffer, BUFFER_BYTES, 0, input, read_bytes, NULL, seek);
  if (!input->packet || !io) return AVERROR(ENOMEM);
  format->pb = io;
  format->max_streams = max_streams;
  int code = avformat_open_input(&format, "", demuxer, NULL);
  // A format that cannot be opened is freed, but not what it reads from.
  if (code < 0) {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
  input->format = format;
  if (code < 0) input_close(input);
  return code < 0 ? code : (intptr_t)input;
}

EXPORT("input_find_tracks") int input_find_tracks(Input *input) {
  return avformat_find_stream_info(input->format, NULL);
}

/** The length that the file declares, in seconds; NaN if it declares none. */
EXPORT("input_duration") double input_duration(Input *input) {
  return seconds(input->format->duration, AV_TIME_BASE_Q);
}

static const char *value_of(AVDictionary *metadata, const char *key) {
  AVDictionaryEntry *entry = av_dict_get(metadata, key, NULL, 0);
  return entry ? entry->value : NULL;
}

/** The program that wrote the file; NULL if the file does not name one. */
EXPORT("input_encoder") const char *input_encoder(Input *input) {
  return value_of(input->format->metadata, "encoder");
}

EXPORT("input_tracks") int input_tracks(Input *input) { return input->format->nb_streams; }

/** Numbers: type, decodable, tag, sample rate, channels, marks, start and duration in seconds. */
EXPORT("track_describe") void track_describe(Input *input, int index) {
  AVStream *stream = input->format->streams[index];
  AVCodecParameters *codec = stream->codecpar;
  numbers[0] = codec->codec_type;
  numbers[1] = avcodec_find_decoder(codec->codec_id) != NULL;
  numbers[2] = codec->codec_tag;
  numbers[3] = codec->sample_rate;
  numbers[4] = codec->ch_layout.nb_channels;
  numbers[5] = stream->disposition;
  numbers[6] = seconds(stream->start_time, stream->time_base);
  numbers[7] = seconds(stream->duration, stream->time_base);
}

EXPORT("track_codec") const char *track_codec(Input *input, int index) {
  return avcodec_get_name(input->format->streams[index]->codecpar->codec_id);
}

EXPORT("track_language") const char *track_language(Input *input, int index) {
  return value_of(input->format->streams[index]->metadata, "language");
}

/** Makes the demuxer skip a track. */
EXPORT("track_discard") void track_discard(Input *input, int index) {
  input->format->streams[index]->discard = AVDISCARD_ALL;
}

/** Reads the next packet. Numbers: track, start and duration in seconds, whether it is trimmed. */
EXPORT("input_read") int input_read(Input *input) {
  AVPacket *packet = input->packet;
  av_packet_unref(packet);
  int code = av_read_frame(input->format, packet);
  if (code < 0) return code;
  AVRational base = input->format->streams[packet->stream_index]->time_base;
  numbers[0] = packet->stream_index;
  numbers[1] = seconds(packet->pts, base);
  numbers[2] = packet->duration * av_q2d(base);
  numbers[3] = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, NULL) != NULL;
  return 0;
}

EXPORT("decoder_close") void decoder_close(Decoder *decoder) {
  swr_free(&decoder->resampler);
  for (int i = 0; decoder->planes && i < decoder->to_layout.nb_channels; i++)
    av_free(decoder->planes[i]);
  av_free(decoder->planes);
  av_channel_layout_uninit(&decoder->from_layout);
  av_channel_layout_uninit(&decoder->to_layout);
  av_frame_free(&decoder->frame);
  avcodec_free_context(&decoder->codec);
  av_free(decoder);
}

/** Opens the decoder of a track; returns a Decoder. */
EXPORT("decoder_open") intptr_t decoder_open(Input *input, int index) {
  AVStream *stream = input->format->streams[index];
  const AVCodec *codec = avcodec_find_decoder(stream->codecpar->codec_id);
  if (!codec) return AVERROR_DECODER_NOT_FOUND;
  Decoder *decoder = av_mallocz(sizeof *decoder);
  if (!decoder) return AVERROR(ENOMEM);
  decoder->frame = av_frame_alloc();
  decoder->codec = avcodec_alloc_context3(codec);
  int code = decoder->frame && decoder->codec ? 0 : AVERROR(ENOMEM);
  if (code >= 0) code = avcodec_parameters_to_context(decoder->codec, stream->codecpar);
  if (code >= 0) {
    // The decoder cuts off the encoder's delay, which it counts in this unit.
    decoder->codec->pkt_timebase = stream->time_base;
    code = avcodec_open2(decoder->codec, codec, NULL);
  }
  if (code < 0) decoder_close(decoder);
  return code < 0 ? code : (intptr_t)decoder;
}

/** Gives the decoder the last packet of `input`; without an input it returns what is left. */
EXPORT("decoder_send") int decoder_send(Decoder *decoder, Input *input) {
  return avcodec_send_packet(decoder->codec, input ? input->packet : NULL);
}

/** Decodes the next frame. Numbers: samples, sample rate, channels, start in seconds. */
EXPORT("decoder_receive") int decoder_receive(Decoder *decoder) {
  AVFrame *frame = decoder->frame;
  int code = avcodec_receive_frame(decoder->codec, frame);
  if (code < 0) return code;
  // Raw PCM has channels without names, which the resampler does not accept.
  if (frame->ch_layout.order == AV_CHANNEL_ORDER_UNSPEC)
    av_channel_layout_default(&frame->ch_layout, frame->ch_layout.nb_channels);
  numbers[0] = frame->nb_samples;
  numbers[1] = frame->sample_rate;
  numbers[2] = frame->ch_layout.nb_channels;
  numbers[3] = seconds(frame->pts, decoder->codec->pkt_timebase);
  return 0;
}

/** Sets the channels of the output; 0 = those of the current frame. */
EXPORT("decoder_set_channels") int decoder_set_channels(Decoder *decoder, int channels) {
  AVChannelLayout *layout = &decoder->to_layout;
  int own = decoder->frame->ch_layout.nb_channels;
  if (channels == 0 || channels == own) {
    int code = av_channel_layout_copy(layout, &decoder->frame->ch_layout);
    if (code < 0) return code;
  } else {
    av_channel_layout_default(layout, channels);
  }
  decoder->planes = av_calloc(layout->nb_channels, sizeof *decoder->planes);
  return decoder->planes ? 0 : AVERROR(ENOMEM);
}

static int open_resampler(Decoder *decoder, int rate) {
  AVFrame *frame = decoder->frame;
  int code = av_channel_layout_copy(&decoder->from_layout, &frame->ch_layout);
  if (code < 0) return code;
  decoder->from_format = frame->format;
  decoder->from_rate = frame->sample_rate;
  code = swr_alloc_set_opts2(&decoder->resampler, &decoder->to_layout, AV_SAMPLE_FMT_FLTP, rate,
                             &frame->ch_layout, frame->format, frame->sample_rate, 0, NULL);
  if (code < 0) return code;
  // As sharp as the filter of ../../resample.ts: flat to 7 kHz, 80 dB down from 8.1 kHz on.
  av_opt_set(decoder->resampler, "filter_type", "kaiser", 0);
  av_opt_set_double(decoder->resampler, "kaiser_beta", 8, 0);
  av_opt_set_int(decoder->resampler, "filter_size", 68, 0);
  av_opt_set_double(decoder->resampler, "cutoff", 0.935, 0);
  return swr_init(decoder->resampler);
}

static int reserve(Decoder *decoder, int samples) {
  if (samples <= decoder->capacity) return 0;
  int capacity = 2 * samples;
  for (int i = 0; i < decoder->to_layout.nb_channels; i++) {
    float *plane = av_realloc_array(decoder->planes[i], capacity, sizeof *plane);
    if (!plane) return AVERROR(ENOMEM);
    decoder->planes[i] = plane;
  }
  decoder->capacity = capacity;
  return 0;
}

/** Appends the resampled samples of `frame`, or without a frame those that are left. */
static int append(Decoder *decoder, AVFrame *frame) {
  int count = frame ? frame->nb_samples : 0;
  int most = swr_get_out_samples(decoder->resampler, count);
  if (most < 0) return most;
  int code = reserve(decoder, decoder->samples + most);
  if (code < 0) return code;
  int channels = decoder->to_layout.nb_channels;
  uint8_t *to[AV_NUM_DATA_POINTERS * 32];
  if (channels > (int)(sizeof to / sizeof *to)) return AVERROR(EINVAL);
  for (int i = 0; i < channels; i++) to[i] = (uint8_t *)(decoder->planes[i] + decoder->samples);
  const uint8_t **from = frame ? (const uint8_t **)frame->extended_data : NULL;
  code = swr_convert(decoder->resampler, to, most, from, count);
  if (code > 0) decoder->samples += code;
  return code;
}

/** Ends the stream of samples that is being resampled; the next frame begins a new one. */
EXPORT("decoder_flush") int decoder_flush(Decoder *decoder) {
  if (!decoder->resampler) return 0;
  int code = append(decoder, NULL);
  swr_free(&decoder->resampler);
  return code;
}

static int is_of_same_form(Decoder *decoder) {
  AVFrame *frame = decoder->frame;
  return frame->format == decoder->from_format && frame->sample_rate == decoder->from_rate &&
         av_channel_layout_compare(&frame->ch_layout, &decoder->from_layout) == 0;
}

/**
 * Resamples the current frame to `rate`. A track may change its rate or layout, as broadcasts do:
 * its later audio has the layout of the first.
 */
EXPORT("decoder_resample") int decoder_resample(Decoder *decoder, int rate) {
  int code = 0;
  if (decoder->resampler && !is_of_same_form(decoder)) code = decoder_flush(decoder);
  if (code >= 0 && !decoder->resampler) code = open_resampler(decoder, rate);
  return code < 0 ? code : append(decoder, decoder->frame);
}

/** The number of samples per channel that are collected. */
EXPORT("decoder_samples") int decoder_samples(Decoder *decoder) { return decoder->samples; }
EXPORT("decoder_plane") float *decoder_plane(Decoder *decoder, int channel) {
  return decoder->planes[channel];
}
EXPORT("decoder_clear") void decoder_clear(Decoder *decoder) { decoder->samples = 0; }
