/** What a message between two ranks is about; within one tag messages keep their order. */
export const tags = { block: 1, exchange: 2, pulse: 3, survey: 4 } as const;
