import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The only address that is listened on. */
export const address = '127.0.0.1';

/** Bytes of the body of a POST. */
export const longestBody = 1024;

/**
 * Scripts, styles, pictures and data from this server only, and nothing that is written into the
 * page itself: a name out of a data file cannot become code, and nothing can be sent elsewhere.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What every answer carries, refusals included; files that never change say so instead of the last. */
export const safeHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

/** 128 random bits, as many characters as are copied by a double click. */
export function newToken(): string {
  return randomBytes(16).toString('hex');
}

/** Why a request is not heard. */
export interface Refusal {
  readonly status: number;
  readonly title: string;
  readonly reason: string;
  /** Methods that would be heard, for a request with another one. */
  readonly allowed?: string;
}

export interface Access {
  readonly port: number;
  readonly token: string;
}

type Rule = (request: IncomingMessage, access: Access) => Refusal | undefined;

/**
 * In this order: who does not know the token learns nothing but that. What a browser says of itself
 * comes on top of the token, for the case that an address has leaked.
 */
const rules: readonly Rule[] = [
  checkHost,
  checkToken,
  checkSite,
  checkOrigin,
  checkMethod,
  checkBody,
];

/** Why a request must not be answered, or undefined. */
export function refusalOf(request: IncomingMessage, access: Access): Refusal | undefined {
  for (const rule of rules) {
    const refusal = rule(request, access);
    if (refusal) return refusal;
  }
  return undefined;
}

/** What browsers call this server; they leave out the port that HTTP has anyway. */
function ownHosts(port: number): string[] {
  const names = [address, 'localhost'];
  return port === 80 ? names : names.map((name) => `${name}:${port}`);
}

/**
 * A page elsewhere may have its own name point to this machine and would then count as ours
 * (DNS rebinding); its requests still carry the name.
 */
function checkHost({ headersDistinct, url = '' }: IncomingMessage, { port }: Access) {
  const named = headersDistinct.host ?? [];
  const ours = named.length === 1 && ownHosts(port).includes(named[0].toLowerCase());
  // A whole address instead of a path would bring a host of its own.
  if (ours && url.startsWith('/')) return undefined;
  return forbidden('The request names another host than this server.');
}

function checkToken({ url = '' }: IncomingMessage, { token }: Access) {
  const given = /^\/([^/?#]*)/.exec(url)?.[1] ?? '';
  return same(given, token)
    ? undefined
    : forbidden('The address lacks the token of this server, or has another one.');
}

/** Takes as long for any text: how much of a guess is right cannot be measured. */
function same(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** A link that somebody follows may come from anywhere; a page elsewhere may not ask by itself. */
function checkSite({ headers, method }: IncomingMessage) {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  const followed =
    method === 'GET' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document';
  return followed ? undefined : forbidden('The request comes from a page of another site.');
}

/** Whatever changes something has to come from our own page. */
function checkOrigin({ headers, headersDistinct, method }: IncomingMessage) {
  const origins = headersDistinct.origin ?? [];
  if (origins.length === 0 && method !== 'POST') return undefined;
  const own = `http://${headers.host?.toLowerCase()}`;
  if (origins.length === 1 && origins[0] === own) return undefined;
  return forbidden('The request does not come from the page of this server.');
}

function checkMethod({ method = '' }: IncomingMessage): Refusal | undefined {
  if (['GET', 'HEAD', 'POST'].includes(method)) return undefined;
  const reason = 'Only GET, HEAD and POST are understood here.';
  return { status: 405, title: 'No such method', reason, allowed: 'GET, HEAD, POST' };
}

/** Nothing has a body that would be needed; one of unknown length might never end. */
function checkBody({ headers }: IncomingMessage): Refusal | undefined {
  const length = Number(headers['content-length'] ?? 0);
  if (headers['transfer-encoding'] === undefined && length <= longestBody) return undefined;
  const reason = `A body has at most ${longestBody} bytes here and says how many.`;
  return { status: 413, title: 'Too long', reason };
}

function forbidden(reason: string): Refusal {
  return { status: 403, title: 'Not allowed', reason };
}

/** A page for a person who came here by a mistake; it repeats nothing of the request. */
export function refusalPage({ title, reason }: Refusal): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>dso: ${title}</title>
<h1>${title}</h1>
<p>${reason}</p>
<p>The address of the dashboard is printed by the command that shows it (dso ui, dso train --ui). Open it
as it stands there, all of it.</p>
</html>
`;
}
