/** Holds a folder until it is ended: FOLDER FIRST END GRID. Says `held`, or why it cannot. */
import { FolderLock } from '../../../../../src/engine/checkpoint/lock.ts';

const [folder, ...numbers] = process.argv.slice(2);
const [first, end, grid] = numbers.map(Number);
try {
  const lock = new FolderLock(folder, [first, end], grid);
  process.on('SIGTERM', () => {
    lock.release();
    process.exit(0);
  });
  console.log('held');
  setInterval(() => {}, 1000);
} catch (error) {
  console.log((error as Error).message);
}
