import { type Browser, chromium } from 'playwright-core';
import { browserArguments, findBrowser } from '../../test/support/chromium.ts';

export const browserPath = findBrowser();

export const noBrowser = 'ui: no Chromium (set DSO_CHROMIUM)';

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath!, args: browserArguments });
}
