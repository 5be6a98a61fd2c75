import { join } from 'node:path';

/** Sources are run as they are; what was built has its programs in one folder. */
const ENDING = import.meta.path.endsWith('.ts') ? 'ts' : 'js';

/** A program that runs as a process of its own, beside whoever starts it: give `import.meta.dir` and its name. */
export const programIn = (folder: string, name: string): string => join(folder, `${name}.${ENDING}`);
