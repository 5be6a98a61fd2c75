import { type TurnId, textPart } from '@parlance/protocol';
import { z } from 'zod';
import { followTurn } from '../follow-turn.ts';
import { TurnView } from '../turn-result.ts';
import { continued } from './continued.ts';
import { defineTool } from './tool.ts';

export const sendMessage = defineTool({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Sends a message to a Parlance agent and returns its answer. Creates a session if none is given; pass the session of the result to continue it. If the status is `waiting`, ask the user and answer with answer_approval. If it is `running`, the agent is still working: read its answer later with read_session.',
  input: z.object({
    text: z.string().describe('the message'),
    session: z.string().optional().describe('the session to continue; it is created if it does not exist'),
    agent: z.string().optional().describe('id of the agent that answers; default: that of the session'),
  }),
  output: TurnView,
  isLong: true,
  async run(ctx, call, { text, session, agent }) {
    const { engine, newId } = ctx;
    const { principal } = call;
    const earlier = await continued(ctx, call);
    if (earlier) return followTurn(ctx, call, earlier);
    const ref = await engine.resolve(principal, session ?? newId());
    const turn = newId() as TurnId;
    const { seq: after } = await engine.snapshot(ref);
    const command = { type: 'input.submit' as const, parts: [textPart(text)], agent, answeredBy: agent };
    await engine.send(ref, command, { principal, dialect: 'mcp', turn });
    return followTurn(ctx, call, { ref, turn, after });
  },
});
