/** The licence texts of the packages whose code is in the bundles, as their licences demand. */
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isAllowed } from './licences.mjs';

/** Its library is compiled into the kernels, which are not bundles. */
const compiledIn = ['node_modules/assemblyscript'];

/** The build passes the name of the file in which both bundlers list packages. */
const variable = 'DSO_BUNDLED_PACKAGES';

/** The folder of the package that a module belongs to. @param {string} id @returns {string[]} */
function folderOf(id) {
  const [, folder] =
    /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/')) ?? [];
  return folder === undefined || id.startsWith('\0') ? [] : [folder];
}

/**
 * A plugin for the bundlers that lists the packages of the modules in the output.
 *
 * @returns {{ name: string, generateBundle(options: unknown, bundle: object): void }}
 */
export function listPackages() {
  return {
    name: 'list-packages',
    generateBundle(_, bundle) {
      const file = process.env[variable];
      if (file === undefined) return;
      for (const output of Object.values(bundle)) {
        const folders = Object.keys(output.modules ?? {}).flatMap(folderOf);
        for (const folder of new Set(folders)) appendFileSync(file, `${folder}\n`);
      }
    },
  };
}

/**
 * Runs the bundlers and writes the notices of the packages that they list.
 *
 * @param {string} listFile a file for the list
 * @param {string} noticesFile
 * @param {() => Promise<void>} bundle
 */
export async function writeNotices(listFile, noticesFile, bundle) {
  writeFileSync(listFile, '');
  process.env[variable] = join(process.cwd(), listFile);
  await bundle();
  const listed = readFileSync(listFile, 'utf8').split('\n').filter(Boolean);
  const own = listed.map((folder) => relative('.', folder).replaceAll('\\', '/'));
  const texts = [...new Set([...own, ...compiledIn])].map(noticeOf).toSorted();
  const head = 'Code of these packages is part of dso, under the licences below.\n';
  writeFileSync(noticesFile, [head, ...texts].join(`\n${'-'.repeat(72)}\n\n`));
}

/** @param {string} folder @returns {string} */
function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!isAllowed(String(license))) throw new Error(`${name}: licence ${license} is not allowed`);
  const files = readdirSync(folder)
    .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
    .filter((file) => existsSync(join(folder, file)))
    .toSorted();
  if (files.length === 0) throw new Error(`${name}: no text of its licence in ${folder}`);
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
