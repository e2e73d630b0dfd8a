import { describe } from 'vitest';
import { penaltyCases } from './cases.ts';
import { penaltyLaws } from './penalty-laws.ts';

describe.each(penaltyCases)('penalty $label', ({ penalty }) => penaltyLaws(penalty));
