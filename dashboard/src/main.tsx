import { render } from 'preact'
import { App } from './app.tsx'
import { texts } from './texts.ts'
import './style.css'

document.documentElement.lang = texts.language
render(<App />, document.getElementById('app')!)
