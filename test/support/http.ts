import { type IncomingHttpHeaders, type RequestOptions, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly type?: string | undefined;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
  readonly agent?: RequestOptions['agent'];
}

/** One request and its whole answer. */
export function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = 'GET', type, body, headers = {}, agent } = question;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method,
      agent,
      headers: { ...(type !== undefined && { 'Content-Type': type }), ...headers },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
    });
    sent.end(body);
  });
}

/** Posts a body of JSON. */
export function post(url: string, body: unknown, agent?: RequestOptions['agent']): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return ask(url, { method: 'POST', type: 'application/json', body: text, agent });
}

/** A bare connection that has sent these bytes, and all that came back until its end. */
export function converse(port: number, bytes: string): { socket: Socket; answer: Promise<string> } {
  const socket = connect(port, '127.0.0.1');
  const answer = new Promise<string>((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  socket.write(bytes);
  return { socket, answer };
}
