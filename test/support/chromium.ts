import { existsSync } from 'node:fs';

const defaultPaths = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** DSO_CHROMIUM, or the first default path that exists; undefined if there is no browser. */
export function findBrowser(): string | undefined {
  return [process.env.DSO_CHROMIUM ?? defaultPaths].flat().find((path) => existsSync(path));
}

/** No GPU and no connections of the browser's own. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
