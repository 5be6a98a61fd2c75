/** Builds a UI message from chunks, like the client. */
import type { Json } from '@parlance/protocol';
import type { Chunk, ToolChunk } from './chunks.ts';

type TextPart = {
  readonly type: 'text' | 'reasoning';
  /** for reasoning only */
  readonly id?: string;
  text: string;
  state?: 'streaming' | 'done';
};

type Approval = { id: string; approved?: boolean; requestReason?: string; reason?: string };

export type ToolPart = {
  readonly type: 'dynamic-tool' | `tool-${string}`;
  readonly toolName?: string;
  readonly toolCallId: string;
  readonly providerExecuted?: true;
  state:
    | 'input-streaming'
    | 'input-available'
    | 'approval-requested'
    | 'approval-responded'
    | 'output-available'
    | 'output-error'
    | 'output-denied';
  input?: Json;
  output?: Json;
  errorText?: string;
  approval?: Approval;
};

export type UIPart =
  | TextPart
  | ToolPart
  | { readonly type: 'step-start' }
  | { readonly type: 'file'; readonly mediaType: string; readonly filename?: string; readonly url: string };

export type UIMessage = {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly metadata?: Json;
  readonly parts: UIPart[];
};

/** The message of a turn. */
export class MessageBuilder {
  readonly message: UIMessage;
  readonly #texts = new Map<string, TextPart>();
  readonly #tools = new Map<string, ToolPart>();

  constructor(id: string) {
    this.message = { id, role: 'assistant', parts: [] };
  }

  add(chunk: Chunk): void {
    const { parts } = this.message;
    switch (chunk.type) {
      case 'start-step':
        parts.push({ type: 'step-start' });
        break;
      case 'reset-step':
        parts.splice(parts.findLastIndex(({ type }) => type === 'step-start') + 1);
        break;
      case 'text-start':
      case 'reasoning-start': {
        const { type, id } = chunk;
        const part: TextPart = {
          ...(type === 'text-start' ? { type: 'text' } : { type: 'reasoning', id }),
          text: '',
          state: 'streaming',
        };
        this.#texts.set(id, part);
        parts.push(part);
        break;
      }
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#texts.get(chunk.id);
        if (part) part.text += chunk.delta;
        break;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = this.#texts.get(chunk.id);
        if (part) part.state = 'done';
        break;
      }
      case 'start':
      case 'finish-step':
      case 'finish':
      case 'error':
      case 'abort':
        break;
      default:
        this.#addToTool(chunk);
    }
  }

  #addToTool(chunk: ToolChunk): void {
    if (chunk.type === 'tool-input-start') {
      const { toolCallId, toolName, dynamic, providerExecuted } = chunk;
      const kind = dynamic
        ? { type: 'dynamic-tool' as const, toolName }
        : { type: `tool-${toolName}` as const };
      const part: ToolPart = {
        ...kind,
        toolCallId,
        state: 'input-streaming',
        ...(providerExecuted && { providerExecuted }),
      };
      this.#tools.set(toolCallId, part);
      this.message.parts.push(part);
      return;
    }
    const part = this.#tools.get(chunk.toolCallId);
    if (part) changeTool(part, chunk);
  }
}

function changeTool(part: ToolPart, chunk: Exclude<ToolChunk, { type: 'tool-input-start' }>): void {
  switch (chunk.type) {
    case 'tool-input-delta':
      break;
    case 'tool-input-available':
      part.state = 'input-available';
      part.input = chunk.input;
      break;
    case 'tool-approval-request':
      part.state = 'approval-requested';
      part.approval = { id: chunk.approvalId, requestReason: chunk.reason };
      break;
    case 'tool-approval-response':
      part.state = 'approval-responded';
      part.approval = {
        ...part.approval,
        id: chunk.approvalId,
        approved: chunk.approved,
        ...(chunk.reason !== undefined && { reason: chunk.reason }),
      };
      break;
    case 'tool-output-available':
      part.state = 'output-available';
      part.output = chunk.output;
      break;
    case 'tool-output-error':
      part.state = 'output-error';
      part.errorText = chunk.errorText;
      // Only a granted approval may be combined with an outcome.
      if (part.approval?.approved !== true) delete part.approval;
      break;
    case 'tool-output-denied':
      part.state = 'output-denied';
  }
}
