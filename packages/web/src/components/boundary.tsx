import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Empty } from './empty.tsx';

/** Error boundary of a page: the rest of the console keeps working. */
export class Boundary extends Component<{ children: ReactNode }, { thrown: unknown }> {
  override state = { thrown: null as unknown };

  static getDerivedStateFromError(thrown: unknown) {
    return { thrown };
  }

  override render() {
    const { thrown } = this.state;
    if (thrown === null) return this.props.children;
    return (
      <main className="page">
        <Empty title="This page crashed" action={<Button onClick={() => location.reload()}>Reload</Button>}>
          {thrown instanceof Error ? thrown.message : String(thrown)}
        </Empty>
      </main>
    );
  }
}
