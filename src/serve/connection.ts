import { STATUS_CODES } from 'node:http';
import { errorText, Refusal } from './refusal.ts';

/** What the parser of HTTP says where a client closes its side in the middle of a request. */
export const endInRequest = 'HPE_INVALID_EOF_STATE';

const messages: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the head of the request did not arrive in time'],
  HPE_HEADER_OVERFLOW: [431, 'the head of the request is too long'],
};

/** What is wrong with a head, by the code of the error that it made. */
export function refusalOfHead(code: string | undefined): Refusal {
  const [status, message] = messages[code ?? ''] ?? [400, 'not a request of HTTP'];
  return new Refusal(status, message);
}

/** An answer for a connection without a request that Node could answer. */
export function bareAnswer({ status, message }: Refusal): string {
  const text = `${errorText(message)}\n`;
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
  );
}
