/** All intents, in matching order. */
import type { Intent } from '../plan.ts';
import { browser } from './browser.ts';
import { demonstrations } from './demonstrations.ts';
import { echo } from './echo.ts';
import { edits } from './edits.ts';
import { files } from './files.ts';
import { greetings } from './greetings.ts';
import { handoff } from './handoff.ts';
import { help } from './help.ts';
import { memory } from './memory.ts';
import { outcome } from './outcome.ts';
import { passages } from './passages.ts';
import { shell } from './shell.ts';
import { summaries } from './summaries.ts';
import { thoughts } from './thoughts.ts';

/** They take the whole message, "and" and "then" included. */
export const WHOLE: readonly Intent[] = [summaries];

/** They can be combined to requests of several steps. */
export const ACTIONS: readonly Intent[] = [echo, shell, edits, browser, files, handoff, outcome];

export const TALK: readonly Intent[] = [help, greetings, memory, demonstrations, thoughts, passages];
