/** Public API of the core. Apart from `core/ports`, the only module that the rest of the server imports. */
export { requirePermission } from '@parlance/protocol';
export { type Agent, AgentCatalog, type Domain } from '../domain/agent-catalog.ts';
export { answerInText } from '../domain/approvals.ts';
export { maySee } from '../domain/rights.ts';
export { awaitsAnswer } from '../domain/session-state.ts';
export { directCallId } from '../domain/turn-events.ts';
export type { ClientAnswer, ClientProgress, ClientRequest, ToolClient } from '../ports/client-tools.ts';
export {
  labelKey,
  type SessionFilter,
  type SessionRecord,
  type SessionRef,
  sessionKey,
} from '../ports/event-store.ts';
export type { Log } from '../ports/logger.ts';
export type { Figures } from '../ports/meter.ts';
export type { NodeState } from '../ports/nodes.ts';
export type { PreferenceStore } from '../ports/preferences.ts';
export type { FollowedEntries, Transport } from '../ports/transport.ts';
export type { IndexedTurn, TurnState } from '../ports/turn-index.ts';
export { ClientToolBroker } from '../runtime/client-tool-broker.ts';
export type { LinkedInput } from '../runtime/links.ts';
export type {
  Commit,
  DeferredCall,
  ObservedSession,
  PendingApproval,
  RunStatus,
  SessionSnapshot,
  Sink,
} from '../runtime/snapshot.ts';
export { TextBuffer } from '../runtime/text-buffer.ts';
export type { Caller } from './decision-context.ts';
export { createEngine, type Engine } from './engine.ts';
export type { EngineParts } from './engine-internals.ts';
export { exportedLines } from './session-export.ts';
export { checkSessions, type ReadSession, readSessions, writeSession } from './session-import.ts';
export type { SharedSession } from './shares.ts';
export type { Watch } from './subscriptions.ts';
