import { useEffect, useRef } from 'react';
import type { Choice } from './slash.ts';

type SlashMenuProps = {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly chosen: number;
  readonly onChoose: (choice: Choice) => void;
};

export const optionId = (id: string, index: number): string => `${id}-${index}`;

/** Completions of a slash command. The focus stays in the message; arrow keys move, Enter selects. */
export function SlashMenu({ id, choices, chosen, onChoose }: SlashMenuProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div className="slash-menu" role="listbox" id={id} ref={list} aria-label="Commands" tabIndex={0}>
      {choices.map((choice, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the message
        // biome-ignore lint/a11y/useKeyWithClickEvents: the message field handles keys
        <div
          key={choice.text}
          role="option"
          id={optionId(id, index)}
          aria-selected={index === chosen}
          className="slash-choice"
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(choice)}
        >
          <strong>{choice.label}</strong>
          <span>{choice.about}</span>
        </div>
      ))}
    </div>
  );
}
