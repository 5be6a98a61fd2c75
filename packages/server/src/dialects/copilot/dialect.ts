/**
 * `copilot`: the Browser Copilot and its side panel, over REST and Pusher channels. One call of `/api/agent/interact` is one
 * step of a task, and a task is a turn: the browser carries out the action of the response and reports its outcome with the
 * next call. The contract has no streaming: messages are sent whole, on the channel `private-session-<id>`.
 */
import { defineDialect } from '../shared/dialect.ts';
import { refusal } from './faults.ts';
import { projection, type State } from './projection.ts';
import { routes } from './routes.ts';

export const copilot = defineDialect<State>({ name: 'copilot', projection, routes, refusal });
