import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder with real data sets, which are not part of this repository. */
const folder =
  process.env.DSO_DATA ?? fileURLToPath(new URL('../../../shared/data', import.meta.url));

/** A real data set, and why a test that needs it is skipped, if the file is missing. */
export function realData(name: string): { path: string; missing: string | false } {
  const path = join(folder, name);
  return { path, missing: !existsSync(path) && `${path} is missing; DSO_DATA names its folder` };
}
