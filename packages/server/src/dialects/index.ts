/** Every dialect we serve. A new one is added here and nowhere else. */
import { agentloop } from './agentloop/dialect.ts';
import { broadcast } from './broadcast/dialect.ts';
import { conversations } from './conversations/dialect.ts';
import { copilot } from './copilot/dialect.ts';
import { extension } from './extension/dialect.ts';
import { native } from './native/dialect.ts';
import type { Dialect } from './shared/dialect.ts';

export const DIALECTS: readonly Dialect[] = [agentloop, broadcast, conversations, copilot, extension, native];
