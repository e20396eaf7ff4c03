import type { BloomId } from 'nestjs-bloom/filter';
import type { ByteSink, LoneSurrogate } from './byte-sink.js';
import { toPeerKey } from './id-text.js';

/** Puts the UTF-8 bytes of an id's text, or the bytes that the id is. */
export function putTextOrBytes(id: BloomId, sink: ByteSink, loneSurrogate: LoneSurrogate): void {
  const key = typeof id === 'string' ? id : toPeerKey(id);
  if (typeof key === 'string') sink.putUtf8(key, loneSurrogate);
  else sink.putBytes(key);
}
