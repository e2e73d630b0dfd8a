/** Heads of requests, and requests as a whole: right ones, odd ones and none at all. */
import type { Random } from '../../src/math/random.ts';
import { chance, pick } from './draw.ts';
import { bodyOf, type Exchange, faultOfAny, linesBody, type Oracle } from './serve-requests.ts';

/** A body in chunks of random lengths. */
function chunked(random: Random, body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const length = Math.min(body.length - at, 1 + random.below(chance(random, 0.3) ? 4 : 4000));
    const extension = chance(random, 0.1) ? ';a=b' : '';
    pieces.push(Buffer.from(`${length.toString(16)}${extension}\r\n`));
    pieces.push(body.subarray(at, at + length), Buffer.from('\r\n'));
    at += length;
  }
  const trailer = chance(random, 0.1) ? 'X-Trailer: 1\r\n' : '';
  return Buffer.concat([...pieces, Buffer.from(`0\r\n${trailer}\r\n`)]);
}

interface Head {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly last: boolean;
}

function headOf({ method, target, headers, last }: Head): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers,
    ...(last ? ['Connection: close'] : []),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withBody(random: Random, head: Head, body: Buffer): Buffer {
  const isChunked = chance(random, 0.3);
  const framing = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const encoded = isChunked ? chunked(random, body) : body;
  return Buffer.concat([headOf({ ...head, headers: [...head.headers, framing] }), encoded]);
}

const host = 'Host: localhost';

/** A request to score rows. `last`: the server is to close the connection after it. */
export function scoring(random: Random, oracle: Oracle, last: boolean): Exchange {
  const inLines = chance(random, 0.2);
  const body = inLines ? linesBody(random, oracle.served, last) : bodyOf(random, oracle.served);
  const type = inLines
    ? pick(random, ['application/x-ndjson', 'application/jsonl'])
    : pick(random, ['application/json', 'application/json', 'Application/JSON; charset=UTF-8']);
  const headers = [host, `Content-Type: ${type}`];
  if (chance(random, 0.03)) headers.push('Expect: 100-continue');
  const target = chance(random, 0.95) ? '/predict' : '/predict?x=1';
  const head = { method: 'POST', target, headers, last };
  return {
    regular: true,
    method: 'POST',
    bytes: withBody(random, head, body),
    faultOf: (response) =>
      inLines ? oracle.faultOfLines(body, response) : oracle.faultOfJson(body, response),
  };
}

export function page(random: Random, last: boolean): Exchange {
  const method = pick(random, ['GET', 'HEAD']);
  const target = pick(random, ['/healthz', '/model', '/metrics', '/metrics?x']);
  return {
    regular: true,
    method,
    bytes: headOf({ method, target, headers: [host], last }),
    faultOf: (response) =>
      faultOfAny(response) ?? (response.status === 200 ? undefined : `status ${response.status}`),
  };
}

const methods = 'GET HEAD POST PUT DELETE OPTIONS PATCH TRACE CONNECT PROPFIND QUERY'.split(' ');
const targets = [
  '/',
  '*',
  '//predict',
  '/predict/',
  '/PREDICT',
  '/%70redict',
  '/../predict',
  '/predict#x',
  '/__proto__',
  '/constructor',
  'http://localhost/predict',
  'http://evil.example/predict',
  'evil.example:443',
  `/${'x'.repeat(3000)}`,
  '/\xff\xfe',
  '/predict;a',
];
const hosts = [
  'Host: evil.example',
  'Host: LOCALHOST:99',
  'Host: [::1]:8080',
  'Host: 127.1.2.3',
  'Host: ',
  'Host: a@localhost',
  'Host: localhost:x',
  'Host: \xff',
  `Host: ${'a'.repeat(4000)}`,
  host,
];
const strange = [
  'Content-Type: text/plain',
  'Content-Type: application/json; charset=latin1',
  'Content-Type: __proto__',
  'Content-Type: constructor',
  'Content-Type: ',
  'Content-Encoding: gzip',
  'Content-Encoding: IDENTITY',
  'Expect: 100-continue',
  'Expect: miracle',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Connection: keep-alive, close',
  'Accept: nothing/at-all',
  'Range: bytes=0-1',
  'Cookie: a=b; a=c',
  'Origin: http://evil.example',
  'X-Forwarded-Host: evil.example',
  `X: ${'y'.repeat(9000)}`,
];

/** A whole request of HTTP that is not what clients send: any documented answer will do. */
export function odd(random: Random, oracle: Oracle): Exchange {
  const method = pick(random, methods);
  const target = chance(random, 0.6) ? pick(random, targets) : '/predict';
  const headers = [chance(random, 0.6) ? host : pick(random, hosts)];
  if (chance(random, 0.8)) headers.push(pick(random, strange));
  if (chance(random, 0.3)) headers.push('Content-Type: application/json');
  const head = { method, target, headers, last: true };
  const body = bodyOf(random, oracle.served);
  const bytes = chance(random, 0.6) ? withBody(random, head, body) : headOf(head);
  return { method, bytes, faultOf: faultOfAny };
}

const post = `POST /predict HTTP/1.1\r\n${host}\r\nContent-Type: application/json\r\n`;
const nothing: readonly string[] = [
  'hello\r\n\r\n',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET /healthz\r\n\r\n',
  'GET /healthz HTTP/1.1\r\n\r\n',
  'GET /healthz HTTP/1.0\r\n\r\n',
  'GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n',
  'GET /healthz HTTP/1.1\nHost: localhost\n\n',
  'get /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'GET  /healthz  HTTP/1.1\r\nHost: localhost\r\n\r\n',
  `GET /healthz HTTP/1.1\r\n${host}\r\n${host}\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${host}\r\nX\x00: 1\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${host}\r\n folded: 1\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${host}\r\nX : 1\r\n\r\n`,
  `GET /healthz HTTP/1.1\r\n${host}\r\n${'A: 1\r\n'.repeat(3000)}\r\n`,
  `GET /healthz HTTP/1.1\r\n${host}\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
  `GET /${'y'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n\r\n`,
  `${post}Content-Length: -1\r\n\r\n[1]`,
  `${post}Content-Length: 3, 3\r\n\r\n[1]`,
  `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\n[1]`,
  `${post}Content-Length: 99999999999999999999\r\n\r\n[1]`,
  `${post}Content-Length: 0x3\r\n\r\n[1]`,
  `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: gzip\r\n\r\n[1]`,
  `${post}Transfer-Encoding: chunked, gzip\r\n\r\n3\r\n[1]\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n[1]`,
  `${post}Transfer-Encoding: chunked\r\n\r\n-3\r\n[1]\r\n0\r\n\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\n3\r\n[1]0\r\n\r\n`,
  `${post}Transfer-Encoding: chunked\r\n\r\n2\r\n[1]\r\n0\r\n\r\n`,
  `${post}\r\n\r\n[1]`,
];

/** Bytes that are no request, or one that is cut off or has a byte changed. */
export function malformed(random: Random, oracle: Oracle): Exchange {
  const { bytes, method } = chance(random, 0.5)
    ? { bytes: Buffer.from(pick(random, nothing), 'latin1'), method: 'POST' }
    : scoring(random, oracle, true);
  if (chance(random, 0.4)) return { method, bytes };
  const at = random.below(bytes.length);
  const changed = Buffer.from(bytes);
  changed[at] = random.below(256);
  return { method, bytes: chance(random, 0.5) ? changed : bytes.subarray(0, at) };
}
