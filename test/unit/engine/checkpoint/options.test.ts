import { expect, test } from 'vitest';
import type { TrainOptions } from '../../../../src/train/options/options.ts';
import { train } from '../../../../src/train/train.ts';
import { sample } from '../../../support/data.ts';

const { dataset } = sample();

const cases: (readonly [object, string])[] = [
  [{ resume: '' }, "resume is ''; it must be the path of a folder"],
  [{ resume: 3 }, 'resume is 3; it must be the path of a folder'],
  [{ checkpoint: 'kept' }, "checkpoint is 'kept'; it must be an object with a folder"],
  [{ checkpoint: {} }, 'checkpoint is an object; it must be an object with a folder'],
  [{ checkpoint: { folder: '' } }, "checkpoint.folder is ''; it must be the path of a folder"],
  [{ checkpoint: { folder: 3 } }, 'checkpoint.folder is 3; it must be the path of a folder'],
  ...[{ epochs: 0 }, { epochs: 1.5 }, { seconds: -1 }, { seconds: 1, epochs: 1 }, {}, 5].map(
    (every) => [{ checkpoint: { folder: 'x', every } }, 'checkpoint.every is'] as const,
  ),
];

test.each(cases)('%j is refused', async (options, message) => {
  await expect(train(dataset, options as unknown as TrainOptions)).rejects.toThrow(message);
});
