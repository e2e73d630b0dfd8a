import { describe, expect, test } from 'vitest';
import {
  addRuns,
  defaultView,
  formatView,
  parseView,
  toggleRun,
} from '../../../../ui/src/charts/view.ts';

describe('the view in the address', () => {
  test('comes back as it was', () => {
    const view = {
      runs: ['20261115-212345-3f9c', '', '20261115-212346-0001'],
      focus: '20261115-212346-0001',
      x: 'passes',
      xlog: true,
      ylog: ['objective', 'testError'],
      zoom: [0.5, 12.25],
      vector: 3,
      theme: 'dark',
      large: 'gap',
    } as const;
    expect(parseView(formatView(view))).toEqual(view);
  });

  test('is empty when nothing was chosen', () => {
    expect(formatView(defaultView)).toBe('');
    expect(parseView('')).toEqual(defaultView);
  });

  test('can say that no chart has a logarithmic axis', () => {
    const hash = formatView({ ...defaultView, ylog: [] });
    expect(hash).toBe('#ylog=');
    expect(parseView(hash).ylog).toEqual([]);
  });

  test('ignores what is unknown or broken', () => {
    const hash =
      '#runs=../etc,a,%3Cb%3E,a&focus=%22&x=year&xlog=yes&ylog=gap,fame&zoom=3,1' +
      '&class=-1&theme=pink&large=none&more=1&%E0%A4%A';
    expect(parseView(hash)).toEqual({ ...defaultView, runs: ['', 'a'] });
  });

  test.each(['', '1', '1,', ',2', '1,2,3', 'NaN,2', '1,Infinity', '2,2'])(
    'takes no zoom from "%s"',
    (zoom) => {
      expect(parseView(`#zoom=${zoom}`)).not.toHaveProperty('zoom');
    },
  );
});

describe('the slots of runs', () => {
  test('stay when one is taken away, and the next takes the free one', () => {
    const without = toggleRun(['a', 'b', 'c'], 'b');
    expect(without).toEqual(['a', '', 'c']);
    expect(toggleRun(without, 'd')).toEqual(['a', 'd', 'c']);
  });

  test('end with a run', () => {
    expect(toggleRun(['a', '', 'c'], 'c')).toEqual(['a']);
  });

  test('are filled by many at once without moving any', () => {
    expect(addRuns(['a', '', 'c'], ['c', 'd', 'e', 'a'])).toEqual(['a', 'd', 'c', 'e']);
  });
});
