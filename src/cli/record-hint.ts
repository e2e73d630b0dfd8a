import { usualFolder } from '../reporting/records/folder.ts';
import { shellWord } from './run-words.ts';

/** The command, after the name of the program, whose runs are recorded in a folder. */
export function trainInto(folder: string): string {
  return folder === usualFolder ? 'train' : `train --runs ${shellWord(folder)}`;
}
