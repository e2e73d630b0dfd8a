/** The least that a server of node:http does: the same answer to every request, its body unread. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const text = '{"label":1,"score":0.4914458817341677}\n';

const server = createServer((_, response) => {
  response.writeHead(200, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(text.length),
  ]);
  response.end(text);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
