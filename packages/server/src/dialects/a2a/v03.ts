/**
 * Version 0.3 of the protocol with its JSON-RPC binding, for clients that have not moved on: its methods are translated to those of 1.0,
 * and their results back. Parts and results have a `kind`, roles and states other names, and results no wrapper.
 */
import { isObject, type Json } from '@parlance/protocol';
import { methodNamed } from '../kit/json-rpc.ts';
import {
  isInterrupted,
  type Message,
  type Part,
  type StreamResponse,
  type Task,
  type TaskPushConfig,
} from './contract.ts';

type Legacy = {
  /** the method of 1.0 */
  readonly method: string;
  paramsOf(params: unknown): unknown;
  resultOf(result: object): object | null;
};

/** Null if the method is none of 0.3. */
export const legacyMethod = (name: string): Legacy | null => methodNamed(LEGACY, name) ?? null;

const taskResult = (result: object): object =>
  legacyTask('task' in result ? (result.task as Task) : (result as Task));
const configResult = (result: object): object => configOf(result as TaskPushConfig);

const legacy = (method: string, paramsOf: Legacy['paramsOf'], resultOf: Legacy['resultOf']): Legacy => ({
  method,
  paramsOf,
  resultOf,
});
const asIs = (params: unknown): unknown => params;

const LEGACY: Readonly<Record<string, Legacy>> = {
  'message/send': legacy('SendMessage', messageParams, taskResult),
  'message/stream': legacy('SendStreamingMessage', messageParams, taskResult),
  'tasks/get': legacy('GetTask', asIs, taskResult),
  'tasks/cancel': legacy('CancelTask', asIs, taskResult),
  'tasks/resubscribe': legacy('SubscribeToTask', asIs, taskResult),
  'tasks/pushNotificationConfig/set': legacy(
    'CreateTaskPushNotificationConfig',
    (params) =>
      isObject(params) ? { ...pushConfig(params.pushNotificationConfig), taskId: params.taskId } : params,
    configResult,
  ),
  'tasks/pushNotificationConfig/get': legacy('GetTaskPushNotificationConfig', pushName, configResult),
  'tasks/pushNotificationConfig/list': legacy('ListTaskPushNotificationConfigs', pushName, (result) =>
    'configs' in result ? (result.configs as TaskPushConfig[]).map(configOf) : [],
  ),
  'tasks/pushNotificationConfig/delete': legacy('DeleteTaskPushNotificationConfig', pushName, () => null),
  'agent/getAuthenticatedExtendedCard': legacy('GetExtendedAgentCard', asIs, asObject),
};

// In: what has not the form of 0.3 is passed on, and refused by the schemas of 1.0.

function messageParams(params: unknown): unknown {
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
      ...(pushNotificationConfig != null && {
        taskPushNotificationConfig: pushConfig(pushNotificationConfig),
      }),
    },
  };
}

/** Of the schemes that a client accepts, the first is used. */
function pushConfig(config: unknown): object {
  if (!isObject(config)) return {};
  const { id, url, token, authentication } = config;
  const { schemes, credentials } = isObject(authentication) ? authentication : {};
  const [scheme] = Array.isArray(schemes) ? schemes : [];
  return {
    ...(id != null && { id }),
    url,
    ...(token != null && { token }),
    ...(scheme !== undefined && {
      authentication: { scheme, ...(credentials != null && { credentials }) },
    }),
  };
}

/** A configuration without a name has the id of its task. */
function pushName(params: unknown): unknown {
  if (!isObject(params)) return params;
  return { taskId: params.id, id: params.pushNotificationConfigId ?? params.id };
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

export const legacyTask = ({ id, contextId, status, artifacts, history }: Task) => ({
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

function asObject(data: Json | object): object {
  return isObject(data) ? data : { value: data };
}

const configOf = ({ id, taskId, url, token, authentication }: TaskPushConfig) => ({
  taskId,
  pushNotificationConfig: {
    id,
    url,
    ...(token !== undefined && { token }),
    ...(authentication && { authentication: { schemes: [authentication.scheme] } }),
  },
});

/** An event of a stream. */
export function legacyFrame(frame: StreamResponse): object {
  if ('task' in frame) return legacyTask(frame.task);
  if ('statusUpdate' in frame) {
    const { taskId, contextId, status } = frame.statusUpdate;
    const final = isInterrupted(status.state);
    return { kind: 'status-update', taskId, contextId, status: stateOf(status), final };
  }
  const { artifact, ...update } = frame.artifactUpdate;
  return { kind: 'artifact-update', ...update, artifact: artifactOf(artifact) };
}
