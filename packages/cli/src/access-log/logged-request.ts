/** One request, as an access log has it. */
export interface LoggedRequest {
  readonly method: string;
  /** Without host and query. */
  readonly path: string;
  readonly status: number;
  /** When it came, as the log writes it; '' where it does not say so. */
  readonly minute: string;
}

/** A line of another kind between the requests: nothing that was looked up. */
export const NO_REQUEST = 'no request';

/** Formats common and combined, whatever stands before the time. */
const COMMON = /\[([^\]]+)\] "(?:([A-Z]+) (\S+)(?: [^"]*)?|(?:[^"\\]|\\.)*)" (\d{3})(?: |$)/;

/** Names under which servers and loggers write them as JSON. */
const FIELDS = {
  path: [
    'request_uri',
    'uri',
    'url',
    'path',
    'req.url',
    'request.uri',
    'request.url',
    'RequestPath',
    'httpRequest.requestUrl',
    'url.original',
    'url.path',
    'request',
  ],
  status: [
    'status',
    'statusCode',
    'status_code',
    'res.statusCode',
    'response.status',
    'DownstreamStatus',
    'httpRequest.status',
    'http.response.status_code',
  ],
  method: [
    'method',
    'request_method',
    'req.method',
    'request.method',
    'RequestMethod',
    'httpRequest.requestMethod',
    'http.request.method',
  ],
  time: ['time', 'ts', 'timestamp', '@timestamp', 'time_iso8601', 'time_local', 'msec', 'StartUTC'],
} as const;

/** Undefined for a line of no format that is known. */
export function requestIn(line: string): LoggedRequest | typeof NO_REQUEST | undefined {
  if (line.startsWith('{')) return requestInJson(line);
  const found = COMMON.exec(line);
  if (!found) return undefined;
  const [, time, method, target, status] = found;
  // What came was no HTTP: the server logs its first bytes.
  if (method === undefined) return NO_REQUEST;
  return { method, path: pathOf(target!), status: Number(status), minute: minuteOf(time) };
}

function requestInJson(line: string): LoggedRequest | typeof NO_REQUEST | undefined {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return undefined;
  }
  const text = FIELDS.path.map((name) => memberOf(entry, name)).find((one) => typeof one === 'string');
  const status = Number(FIELDS.status.map((name) => memberOf(entry, name)).find(isNumeric));
  if (typeof text !== 'string' || !(status >= 100 && status < 600)) return NO_REQUEST;
  const words = text.split(' ');
  const method = FIELDS.method.map((name) => memberOf(entry, name)).find((one) => typeof one === 'string');
  return {
    method: String(method ?? (words.length > 1 ? words[0] : 'GET')).toUpperCase(),
    path: pathOf(words[1] ?? text),
    status,
    minute: minuteOf(FIELDS.time.map((name) => memberOf(entry, name)).find((one) => one !== undefined)),
  };
}

/** A member by its name, which may have dots, or by its path. */
function memberOf(entry: unknown, name: string): unknown {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const members = entry as Readonly<Record<string, unknown>>;
  if (Object.hasOwn(members, name)) return members[name];
  const dot = name.indexOf('.');
  return dot < 0 ? undefined : memberOf(members[name.slice(0, dot)], name.slice(dot + 1));
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
}

function pathOf(target: string): string {
  return target.replace(/^\w+:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
}

/** From 1e11 on a number is milliseconds: as seconds it would be the year 5138. */
const LEAST_MS = 1e11;
const LAST_DATE_MS = 8.64e15;

function minuteOf(time: unknown): string {
  const text = String(time ?? '');
  if (/^\d+(\.\d+)?$/.test(text)) {
    const ms = Number(text) < LEAST_MS ? Number(text) * 1000 : Number(text);
    return ms < LAST_DATE_MS ? new Date(ms).toISOString().slice(0, 16) : '';
  }
  // 10/Oct/2000:13:55:36 -0700, or 2000-10-10T13:55:36Z.
  return /^\d+\/\w+\/\d+:\d\d:\d\d|^\d+-\d\d-\d\d.\d\d:\d\d/.exec(text)?.[0] ?? '';
}
