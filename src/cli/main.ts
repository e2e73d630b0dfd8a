import { processIo } from './io.ts';
import { main } from './program.ts';

/** The executable: everything it does is in program.ts, which can be imported without running. */
process.exitCode = await main(process.argv.slice(2), processIo());
