/** Dialogs for changes of a user. */

import type { Role } from '@parlance/protocol';
import type { User } from '@parlance/sdk';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { parlance } from '@parlance/ui/state/server.ts';
import { NewPassword } from '../../components/new-password.tsx';

const { users } = parlance.admin;

export type UserDialogState =
  | { readonly what: 'add' }
  | { readonly what: 'role' | 'password' | 'logout' | 'remove'; readonly user: User };

const ROLES: Readonly<Record<Role, string>> = {
  admin: 'full access to all sessions',
  developer: 'full access to own sessions',
  user: 'chat only, cannot approve',
};

const NAMES = Object.keys(ROLES) as Role[];

type UserDialogProps = {
  readonly dialog: UserDialogState;
  readonly mine: string;
  readonly run: (work: () => Promise<unknown>, done: string) => Promise<void>;
  readonly close: () => void;
};

export function UserDialog({ dialog, mine, run, close }: UserDialogProps) {
  if (dialog.what === 'add')
    return (
      <Dialog
        title="Add user"
        confirm="Add"
        onClose={close}
        onConfirm={(fields) => {
          const name = textOf(fields, 'name');
          const wanted = { name, password: textOf(fields, 'password'), role: roleOf(fields) };
          return run(() => users.add(wanted), `${name} was added.`);
        }}
      >
        <label className="field">
          Name
          <input name="name" required maxLength={64} autoComplete="off" pattern="[A-Za-z0-9._@\-]+" />
        </label>
        <NewPassword label="Password" name="password" />
        <RoleField current="user" />
      </Dialog>
    );
  const { user } = dialog;
  const { name } = user;
  const end = name === mine ? 'This signs you out here, too.' : `${name} will have to sign in again.`;
  switch (dialog.what) {
    case 'role':
      return (
        <Dialog
          title={`Role of ${name}`}
          confirm="Change"
          onClose={close}
          onConfirm={(fields) => {
            const role = roleOf(fields);
            return run(() => users.change(name, { role }), `${name} is now ${role}.`);
          }}
        >
          <RoleField current={user.role} />
          <p className="hint">{end}</p>
        </Dialog>
      );
    case 'password':
      return (
        <Dialog
          title={`New password for ${name}`}
          confirm="Set"
          onClose={close}
          onConfirm={(fields) => {
            const password = textOf(fields, 'password');
            return run(() => users.change(name, { password }), `Password of ${name} changed.`);
          }}
        >
          <NewPassword label="Password" name="password" />
          <p className="hint">{end}</p>
        </Dialog>
      );
    case 'logout':
      return (
        <Dialog
          title={`Sign ${name} out?`}
          confirm="Sign out"
          danger
          onClose={close}
          onConfirm={() => run(() => users.logout(name), `${name} was signed out everywhere.`)}
        >
          <p>
            This revokes all tokens of {name} and closes their connections. Running turns continue. {end}
          </p>
        </Dialog>
      );
    case 'remove':
      return (
        <Dialog
          title={`Remove ${name}?`}
          confirm="Remove"
          danger
          onClose={close}
          onConfirm={() => run(() => users.remove(name), `${name} was removed.`)}
        >
          <p>
            {name} can no longer sign in, and all tokens are revoked. The sessions remain visible to admins; a
            new user with the same name would own them.
          </p>
        </Dialog>
      );
  }
}

const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? '');
const roleOf = (fields: FormData): Role => NAMES.find((role) => role === fields.get('role')) ?? 'user';

function RoleField({ current }: { current: Role }) {
  return (
    <label className="field">
      Role
      <select name="role" defaultValue={current}>
        {NAMES.map((one) => (
          <option key={one} value={one}>
            {one}: {ROLES[one]}
          </option>
        ))}
      </select>
    </label>
  );
}
