/** Intents that call tools, in matching order. They can be combined to requests of several steps. */
import type { Intent } from '../plan.ts';
import { edits } from './edits.ts';
import { files } from './files.ts';
import { shell } from './shell.ts';
import { echo, handoff } from './small-tools.ts';
import { web } from './web.ts';

export const ACTIONS: readonly Intent[] = [echo, shell, edits, web, files, handoff];
