/**
 * What `index.ts` imports first, so that an old Node is named as the cause before anything else
 * fails on it. Built as a file of its own (tsdown.config.ts): the code of one bundle runs only after
 * all its imports.
 */
const oldest = [22, 12] as const;
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  throw new Error(
    `dso needs Node ${oldest.join('.')} or newer; this is Node ${process.versions.node}`,
  );
}
