import type { About } from './plan.ts';

/**
 * Seeds of worlds about anything that found a defect that the product had, each with a sentence. They run with every `npm test`. A change of the simulation shifts
 * what a seed does: `npm run simulate -- --mutants` plants the defects again (those marked as real) and tells which seeds find them now.
 */
export const PINNED: Readonly<Record<number, string>> = {
  16: 'after a failover, a node that had stored an event on top of lost ones kept its wrong state: only the last event was compared',
  17: 'after a failover that lost events, a command was answered with an internal error instead of being decided again',
  105: 'a call that was denied on another node started, because another call of the same answer was running',
  154: 'a node forgot a session that it drove, because the message about an earlier erasure of the session came late',
  232: 'a node whose first reads of a promoted database failed never noticed the failover, and answered a lost message',
  277: 'a cancellation that could not be stored left the text of the stopped step on the screen, beside that of its repetition',
  2281: 'a node on which a turn ran tools while another node erased its session looped for ever: the whole process hung',
  61: 'a node whose turn was cancelled by another one went on with the next turn, which the other drove: both called the model, and readers saw a text without its beginning',
  669: 'watchers on other nodes were not told of events of an append that had failed, but was stored: they showed a running turn until the next event',
  797: 'a reader that reconnected to a node that was behind was shown a part of the text twice: the cursor of the SDK forgot what it had yielded',
  24: 'a sub-agent in the background waited for ever, because the turn that showed what it asks was cancelled',
  37: 'a sub-agent called a tool that a client executes, of which no client learned',
  94: 'a sub-agent with two tasks counted as done after the first one: what it asked then was shown nowhere',
  149: 'a sub-agent that had to stop its own sub-agent while a call ran looped for ever: the whole process hung',
  534: 'what a sub-agent asks was compared with an old state of its parent on another node, and counted as shown',
  1123: 'a turn that a node had taken over never went on, because the query that followed the one that took it failed',
  100042:
    'an old report of a sub-agent overtook a newer one: its parent recorded an approval as denied that still waited',
  100063: 'while files were restored, more messages were queued than the limit allows',
  55: 'a node that had not noticed a failover yet decided on events that were lost, and stored what followed after others',
  5445: 'after a failover, a node that compared a session late did not go on with its turn, although the database said that it drives it',
  73: 'a node that was paused while another one continued its turn up to a question stored its stale step, although the turn waited',
};

/** The same in worlds of one kind. */
export const PINNED_ABOUT: readonly (readonly [About, number, string])[] = [
  [
    'sub-agents',
    35,
    'two calls of one step waited for the same sub-agent: only one was told of the outcome, and the turn waited for ever',
  ],
];
