/** Members of presence channels on other nodes, for channels with subscribers on this node. */
import type { FollowedEntries, Transport } from '../../cluster/transport.ts';
import type { Member } from './member.ts';
import { MemberEntry } from './node-messages.ts';

type Remote = { readonly followed: FollowedEntries; members: ReadonlyMap<string, Member>; ready: boolean };
type Changed = (channel: string, before: ReadonlyMap<string, Member>) => void;

const NOBODY: ReadonlyMap<string, Member> = new Map();

export class RemoteMembers {
  readonly #channels = new Map<string, Remote>();
  /** functions that remove the entry of a member of this node */
  readonly #own = new Map<string, () => void>();

  constructor(
    private readonly transport: Transport,
    /** called after the members of a channel have changed */
    private readonly changed: Changed,
  ) {}

  /** Resolves when the members of the channel are known; null if they already are. */
  open(channel: string): Promise<void> | null {
    const existing = this.#channels.get(channel);
    if (existing?.ready) return null;
    if (existing) return existing.followed.ready;
    const followed = this.transport.registry.follow([keyOf(channel)]);
    const remote: Remote = { followed, members: NOBODY, ready: false };
    this.#channels.set(channel, remote);
    followed.onChange(() => this.#update(channel, remote));
    return followed.ready.then(() => {
      remote.ready = true;
    });
  }

  close(channel: string): void {
    this.#channels.get(channel)?.followed.close();
    this.#channels.delete(channel);
  }

  of(channel: string): ReadonlyMap<string, Member> {
    return this.#channels.get(channel)?.members ?? NOBODY;
  }

  /** The first socket of the user on this node has joined. */
  add(channel: string, member: Member): void {
    const value = MemberEntry.parse(member);
    const end = this.transport.registry.add(keyOf(channel), { id: member.user_id, value });
    this.#own.set(nameOf(channel, member.user_id), end);
  }

  /** The last socket of the user on this node has left. */
  remove(channel: string, user: string): void {
    const name = nameOf(channel, user);
    this.#own.get(name)?.();
    this.#own.delete(name);
  }

  #update(channel: string, remote: Remote): void {
    const before = remote.members;
    const members = new Map<string, Member>();
    for (const { value } of remote.followed.entries) {
      const { success, data } = MemberEntry.safeParse(value);
      if (success) members.set(data.user_id, data);
    }
    remote.members = members;
    if (remote.ready) this.changed(channel, before);
  }
}

const keyOf = (channel: string): string => `p:${channel}`;
const nameOf = (channel: string, user: string): string => JSON.stringify([channel, user]);
