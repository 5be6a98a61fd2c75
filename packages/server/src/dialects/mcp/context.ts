import { z } from 'zod';
import type { DialectContext } from '../kit/dialect.ts';
import type { ClientSessions } from './client-sessions.ts';
import type { OpenCalls } from './open-calls.ts';
import type { OpenForms } from './open-forms.ts';
import type { OtherNodes } from './other-nodes.ts';

/** The part of the configuration that is used here. */
export const Settings = z.object({ toolCallWithin: z.number() });

export type BaseContext = Pick<
  DialectContext<z.output<typeof Settings>>,
  | 'about'
  | 'countRequest'
  | 'authenticator'
  | 'connections'
  | 'engine'
  | 'log'
  | 'newId'
  | 'now'
  | 'readBody'
  | 'settings'
  | 'stream'
>;

/** The context of the methods. */
export type Context = BaseContext & {
  readonly sessions: ClientSessions;
  readonly calls: OpenCalls;
  readonly forms: OpenForms;
  readonly otherNodes: OtherNodes;
};
