import { expect, test } from 'vitest';
import { unseen } from '../../../../src/errors.ts';
import { describeModel } from '../../../../src/reporting/text/model.ts';
import { sampleModel } from '../../../support/models.ts';

test('a terminal obeys nothing that a model file says', () => {
  const model = sampleModel();
  const forged = sampleModel({
    solver: '\u001b[31mring',
    loss: { name: 'hinge\u202e', parameter: 0 },
    penalty: { ...model.penalty, name: 'l2\u009b1m' },
    provenance: { version: '1\u2028', data: 'a\nb', options: { 'c\r': '\u0007' } },
  });
  const lines = describeModel(forged).split('\n');
  expect(lines.filter((line) => unseen.test(line))).toEqual([]);
  expect(lines.length).toBe(describeModel(model).split('\n').length + 3);
  expect(lines.join()).toContain(String.raw`\u001b[31mring`);
});
