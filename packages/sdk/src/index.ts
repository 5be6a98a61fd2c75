/** `@parlance/sdk`: a typed client of the native API, for browsers, Bun and Node. */
export type {
  ApprovalAnswer,
  ApprovalMode,
  Ask,
  CommandInput,
  DurableEvent,
  EphemeralEvent,
  FaultCode,
  HistoryItem,
  Part,
  SessionEvent,
  Usage,
} from '@parlance/protocol';
export type * from '@parlance/protocol/api';
export type { ActivityEvent, FramesEvent, TappedFrame } from './activity.ts';
export type { Administration, ApiKeys, McpOfUser, Pairings, SavedPrompts } from './administration.ts';
export type { Answer, ApprovalDecision, FollowOptions, GivenAnswers } from './ask.ts';
export {
  type ConnectOptions,
  connect,
  type Login,
  type Me,
  type Page,
  type Parlance,
  type UsageOptions,
} from './connect.ts';
export type { Reset, SessionStreamEvent, Snapshot } from './cursor.ts';
export { ParlanceError, type ParlanceErrorCode } from './error.ts';
export type { EventsOptions } from './event-stream.ts';
export type { Fetch } from './http-client.ts';
export type { LiveView } from './live-view.ts';
export type { ConnectionState, WatchOptions } from './reconnecting-stream.ts';
export type { Backoff, Clock } from './retry.ts';
export type {
  AnswerOptions,
  AskOptions,
  CallOptions,
  InputReceipt,
  SendOptions,
  SessionHandle,
  SubmitOptions,
} from './session.ts';
export * from './view.ts';
