import { existsSync } from 'node:fs';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** DSO_CHROMIUM, or where systems put it; undefined where it is not installed. */
export function findBrowser(): string | undefined {
  return [process.env.DSO_CHROMIUM ?? usualPlaces].flat().find((path) => existsSync(path));
}

/** A browser that draws by itself and asks nobody for anything. */
export const browserArguments = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
