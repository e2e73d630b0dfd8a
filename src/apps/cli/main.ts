// oxlint-disable-next-line import/no-unassigned-import -- before the code of the others runs
import './lazy.ts';
import { main } from './program.ts';
import { processIo } from './terminal.ts';

/** The executable: everything it does is in program.ts, which can be imported without running. */
process.exitCode = await main(process.argv.slice(2), processIo());
