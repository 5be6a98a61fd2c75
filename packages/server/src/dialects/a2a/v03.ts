/**
 * Version 0.3 of the protocol with its JSON-RPC binding, for clients that have not moved on: its methods are translated to those of 1.0,
 * and their results back. Parts and results have a `kind`, roles and states other names, and results no wrapper.
 */
import { isObject, type Json } from '@parlance/protocol';
import { methodNamed } from '../kit/json-rpc.ts';
import { isInterrupted, type Message, type Part, type StreamResponse, type Task } from './contract.ts';
import { METHODS, type Method, refusedMethod } from './methods.ts';

type Legacy = {
  readonly run: Method<unknown>;
  readonly frameOf: (frame: StreamResponse) => object;
};

/** Null if the method is none of 0.3. */
export function legacyMethod(name: string): Legacy | null {
  const known = methodNamed(LEGACY, name);
  if (known === undefined) return null;
  const run = methodNamed(METHODS, known);
  if (!run) throw refusedMethod(known);
  return {
    frameOf,
    async run(ctx, call, params) {
      const result = await run(ctx, call, paramsOf(params));
      if (result instanceof Response) return result;
      return taskOf('task' in result ? (result.task as Task) : (result as Task));
    },
  };
}

const LEGACY: Readonly<Record<string, string>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

// In: what has not the form of 0.3 is passed on, and refused by the schemas of 1.0.

function paramsOf(params: unknown): unknown {
  if (!isObject(params) || !isObject(params.message)) return params;
  const { message } = params;
  const { blocking, ...configuration } = isObject(params.configuration) ? params.configuration : {};
  const { pushNotificationConfig, ...others } = configuration;
  return {
    ...params,
    message: {
      ...message,
      role: message.role === 'user' ? 'ROLE_USER' : message.role,
      parts: Array.isArray(message.parts) ? message.parts.map(sentPart) : message.parts,
    },
    configuration: {
      ...others,
      returnImmediately: blocking === false,
      ...(pushNotificationConfig != null && { taskPushNotificationConfig: pushNotificationConfig }),
    },
  };
}

function sentPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  if (part.kind === 'text') return { text: part.text };
  if (part.kind === 'data') return { data: part.data };
  const { file } = part;
  if (part.kind !== 'file' || !isObject(file)) return {};
  const { bytes, uri, mimeType, name } = file;
  return {
    ...(bytes !== undefined ? { raw: bytes } : { url: uri }),
    ...(mimeType != null && { mediaType: mimeType }),
    ...(name != null && { filename: name }),
  };
}

// Out

const stateOf = ({ state, message, timestamp }: Task['status']) => ({
  state: state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'),
  ...(message && { message: messageOf(message) }),
  timestamp,
});

const taskOf = ({ id, contextId, status, artifacts, history }: Task) => ({
  kind: 'task',
  id,
  contextId,
  status: stateOf(status),
  ...(artifacts && { artifacts: artifacts.map(artifactOf) }),
  ...(history && { history: history.map(messageOf) }),
});

const artifactOf = ({ artifactId, parts }: NonNullable<Task['artifacts']>[number]) => ({
  artifactId,
  parts: parts.map(partOf),
});

const messageOf = ({ role, parts, ...message }: Message) => ({
  kind: 'message',
  ...message,
  role: role === 'ROLE_USER' ? 'user' : 'agent',
  parts: parts.map(partOf),
});

function partOf(part: Part): object {
  if ('text' in part) return { kind: 'text', text: part.text };
  // A client of 0.3 expects an object.
  if ('data' in part) return { kind: 'data', data: asObject(part.data) };
  const { mediaType, filename } = part;
  const content = 'raw' in part ? { bytes: part.raw } : { uri: part.url };
  const about = { ...(mediaType && { mimeType: mediaType }), ...(filename && { name: filename }) };
  return { kind: 'file', file: { ...content, ...about } };
}

const asObject = (data: Json): object => (isObject(data) ? data : { value: data });

/** An event of a stream. */
function frameOf(frame: StreamResponse): object {
  if ('task' in frame) return taskOf(frame.task);
  if ('statusUpdate' in frame) {
    const { taskId, contextId, status } = frame.statusUpdate;
    const final = isInterrupted(status.state);
    return { kind: 'status-update', taskId, contextId, status: stateOf(status), final };
  }
  const { artifact, ...update } = frame.artifactUpdate;
  return { kind: 'artifact-update', ...update, artifact: artifactOf(artifact) };
}
