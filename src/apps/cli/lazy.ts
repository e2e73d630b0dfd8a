import { setFlagsFromString } from 'node:v8';

/**
 * What `main.ts` imports first: bin/dso.js had the files of the program compiled as a whole, and now
 * that they are, functions of others are compiled when they are called.
 */
setFlagsFromString('--lazy');
