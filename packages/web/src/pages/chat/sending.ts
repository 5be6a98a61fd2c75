/** Messages that the server has not accepted yet, or whose event has not arrived: they are shown at once. */
import type { Part } from '@parlance/protocol';
import type { SessionView } from '@parlance/sdk';
import type { Sending } from '@parlance/ui/chat/rows.ts';
import { useEffect, useMemo, useState } from 'react';

/** Sends a message with a key. Resolves with false if it was refused. */
type Send = (key: string) => Promise<boolean>;

export type SendingMessages = {
  /** those that the view does not have yet */
  readonly sending: readonly Sending[];
  /** Shows the message until the view has it, or until it is refused. */
  send(parts: readonly Part[], work: Send): Promise<boolean>;
};

export function useSending(view: SessionView): SendingMessages {
  const [all, setAll] = useState<readonly Sending[]>([]);
  const sending = useMemo(() => all.filter(({ key }) => !hasInput(view, key)), [all, view]);
  useEffect(() => {
    if (sending.length < all.length) setAll(sending);
  }, [sending, all]);

  async function send(parts: readonly Part[], work: Send): Promise<boolean> {
    const key = newKey();
    setAll((before) => [...before, { key, parts }]);
    const accepted = await work(key);
    if (!accepted) setAll((before) => before.filter((one) => one.key !== key));
    return accepted;
  }

  return { sending, send };
}

export const hasInput = (
  { queued, entries }: Pick<SessionView, 'queued' | 'entries'>,
  key: string,
): boolean =>
  queued.some((input) => input.key === key) ||
  entries.some((entry) => entry.kind === 'turn' && entry.input?.key === key);

/** `crypto.randomUUID` is missing on pages served over plain HTTP. */
const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');
