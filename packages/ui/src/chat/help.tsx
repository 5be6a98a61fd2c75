import { Dialog } from '../components/dialog.tsx';
import { Shortcuts } from '../components/shortcuts.tsx';
import { useServer } from '../state/server.ts';
import { slashesFor } from './slash.ts';

export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Commands and shortcuts" confirm="Close" plain onConfirm={onClose} onClose={onClose}>
      <dl className="help">
        {slashesFor(useServer()).map((slash) => (
          <div key={slash.name}>
            <dt>
              /{slash.name} {'argument' in slash && <var>{slash.argument}</var>}
            </dt>
            <dd>{slash.about}</dd>
          </div>
        ))}
      </dl>
      <Shortcuts />
    </Dialog>
  );
}
