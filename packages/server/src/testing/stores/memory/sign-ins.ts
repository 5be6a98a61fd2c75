/** Sign-ins and invitations in memory. */
import type { Invitation, Rotation, SignIn, StoredUser, User } from '../../../accounts/store.ts';
import { storable } from '../../../stores/shared/text.ts';

export function memorySignIns(userNamed: (name: string) => StoredUser | null, changed: () => void) {
  const signIns = new Map<string, SignIn>();
  return {
    find: (id: string): SignIn | null => signIns.get(storable(id)) ?? null,
    add(signIn: SignIn, max: number): boolean {
      const { tokenVersion, createdAt } = signIn;
      const owner = storable(signIn.owner);
      if (userNamed(owner)?.tokenVersion !== tokenVersion) return false;
      if (signIns.has(signIn.id)) throw new Error('a sign-in with this id exists');
      signIns.set(signIn.id, { ...signIn, owner });
      const own = [...signIns.values()]
        .filter((other) => other.owner === owner)
        .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
      for (const [index, other] of own.entries())
        if (index >= max || other.expiresAt <= createdAt || other.tokenVersion !== tokenVersion)
          signIns.delete(other.id);
      return true;
    },
    rotate(id: string, expected: string, rotation: Rotation): boolean {
      const found = signIns.get(storable(id));
      if (found?.hash !== expected) return false;
      signIns.set(found.id, { ...found, ...rotation, seen: false });
      return true;
    },
    markSeen(id: string, hash: string): void {
      const found = signIns.get(storable(id));
      if (found?.hash === hash) signIns.set(found.id, { ...found, seen: true });
    },
    remove(id: string): boolean {
      const removed = signIns.delete(storable(id));
      if (removed) changed();
      return removed;
    },
    /** Does not notify: the caller removes the user in the same step. */
    removeOf(owner: string): void {
      for (const signIn of [...signIns.values()])
        if (signIn.owner === storable(owner)) signIns.delete(signIn.id);
    },
  };
}

type Users = { readonly has: (name: string) => boolean; readonly put: (user: User) => void };

export function memoryInvitations(users: Users) {
  const invitations = new Map<string, Invitation>();
  return {
    find: (id: string): Invitation | null => invitations.get(storable(id)) ?? null,
    list: (): Invitation[] =>
      [...invitations.values()].sort(
        (one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1),
      ),
    add(invitation: Invitation, max: number): boolean {
      const { createdBy, createdAt } = invitation;
      if (!users.has(createdBy)) return false;
      const name = storable(invitation.name);
      for (const other of [...invitations.values()])
        if (other.expiresAt <= createdAt || other.name === name) invitations.delete(other.id);
      if (invitations.size >= max) return false;
      invitations.set(invitation.id, { ...invitation, name, createdBy: storable(createdBy) });
      return true;
    },
    accept(id: string, user: User): 'accepted' | 'gone' | 'taken' {
      if (!invitations.has(storable(id))) return 'gone';
      if (users.has(user.name)) return 'taken';
      invitations.delete(storable(id));
      users.put(user);
      return 'accepted';
    },
    remove: (id: string): boolean => invitations.delete(storable(id)),
    /** The caller removes the user in the same step. */
    removeOf(admin: string): void {
      for (const { id, createdBy } of [...invitations.values()])
        if (createdBy === storable(admin)) invitations.delete(id);
    },
  };
}
