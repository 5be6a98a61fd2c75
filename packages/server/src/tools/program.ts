import { join } from 'node:path';

/** Sources are run directly; the build puts all programs in one folder. */
const ENDING = import.meta.path.endsWith('.ts') ? 'ts' : 'js';

/** A program that runs as a separate process: pass `import.meta.dir` and its name. */
export const programIn = (folder: string, name: string): string => join(folder, `${name}.${ENDING}`);
