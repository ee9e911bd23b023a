import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { RequestError, signIn } from '../api/api.ts'
import { route } from '../app/route.ts'
import { BusyButton } from '../components/busy-button.tsx'
import { texts } from '../texts.ts'

/** Signs in with a key, or with the link of a first start. */
export function SignInPage(): JSX.Element {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [name, link] = route.value

  useEffect(() => {
    if (name !== 'sign-in' || !link) return
    // The secret is removed from the address at once, so that neither the history nor a bookmark
    // keeps it.
    history.replaceState(null, '', '#/')
    signIn({ link })
      .catch((error: unknown) => setProblem(problemOf(error, texts.signIn.linkEnded)))
      .finally(() => {
        route.value = []
      })
  }, [name, link])

  async function submit(event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await signIn({ key: key.trim() })
    } catch (error) {
      setProblem(problemOf(error, texts.signIn.wrong))
    } finally {
      setBusy(false)
    }
  }

  return (
    <section class="card narrow">
      <h1>{texts.signIn.title}</h1>
      <form onSubmit={submit}>
        <label for="key">{texts.signIn.key}</label>
        <input
          id="key"
          type="password"
          autocomplete="current-password"
          required
          value={key}
          aria-describedby="key-hint key-problem"
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        <p id="key-problem" class="problem" role="alert">
          {problem}
        </p>
        <BusyButton type="submit" class="main" isBusy={isBusy}>
          {texts.signIn.submit}
        </BusyButton>
      </form>
      <p id="key-hint" class="hint">
        {texts.signIn.hint}
      </p>
    </section>
  )
}

/** Returns why a sign-in failed; `unknown` if the server does not know the key or the link. */
function problemOf(error: unknown, unknown: string): string {
  const isUnknown = error instanceof RequestError && error.status === 401
  return isUnknown ? unknown : (error as Error).message
}
