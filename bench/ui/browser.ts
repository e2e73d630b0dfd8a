import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser of this machine, if it has one; DSO_CHROMIUM names another. */
export const browserPath = [process.env.DSO_CHROMIUM, ...places].find(
  (path) => path !== undefined && existsSync(path),
);

export const noBrowser = `ui: no Chromium (${places[0]}; set DSO_CHROMIUM)`;

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath!,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
