import fc from 'fast-check';

/**
 * Properties meet the same examples in every run: a failure is a change of the code, never of the
 * dice. `DSO_TEST_SEED=7 npx vitest run …` throws other dice, to look for more.
 */
fc.configureGlobal({ seed: Number(process.env.DSO_TEST_SEED ?? 20_260) });

export { fc };
