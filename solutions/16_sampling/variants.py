"""Right answers to assignment 16, written differently, and answers that compute nothing."""

from grader.authoring import edit, trivial, variant

FILTER = [
    variant(
        "as-in-transformers",
        "top_k_top_p_filtering",
        """
        def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
            logits = logits.clone()
            top_k = min(top_k, logits.size(-1))
            if top_k > 0:
                indices_to_remove = logits < torch.topk(logits, top_k)[0][..., -1, None]
                logits[indices_to_remove] = -float("Inf")
            if top_p < 1.0:
                sorted_logits, sorted_indices = torch.sort(logits, descending=True)
                cumulative_probs = torch.cumsum(torch.softmax(sorted_logits.double(), dim=-1), dim=-1)
                sorted_indices_to_remove = cumulative_probs > top_p
                sorted_indices_to_remove[..., 1:] = sorted_indices_to_remove[..., :-1].clone()
                sorted_indices_to_remove[..., 0] = 0
                indices_to_remove = torch.zeros_like(sorted_indices_to_remove)
                indices_to_remove.scatter_(-1, sorted_indices, sorted_indices_to_remove)
                logits[indices_to_remove] = -float("Inf")
            return logits
        """,
    ),
    variant(
        "large-negative-fill",
        "top_k_top_p_filtering",
        """
        def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
            low = torch.tensor(-1e9).to(logits)
            ranked, order = logits.sort(-1, descending=True)
            rank = torch.arange(logits.shape[-1], device=logits.device)
            keep = rank < (top_k or len(rank))
            mass = torch.where(keep, ranked, -torch.inf).float().softmax(-1)
            if top_p < 1:
                keep = keep & ((mass.cumsum(-1) - mass < top_p) | (rank == 0))
            return torch.where(keep & (ranked > -torch.inf), ranked, low).gather(-1, order.argsort(-1))
        """,
    ),
    variant(
        "ascending",
        "top_k_top_p_filtering",
        """
        def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
            kept = torch.ones_like(logits, dtype=torch.bool)
            ranked, order = torch.sort(logits)
            if top_k:
                ranked[..., : max(0, logits.shape[-1] - top_k)] = -torch.inf
            if top_p < 1:
                tail = ranked.double().softmax(-1).cumsum(-1)
                cut = tail <= 1 - top_p
                cut[..., -1] = False
                ranked = ranked.masked_fill(cut, -torch.inf)
            return torch.empty_like(logits).scatter_(-1, order, ranked)
        """,
    ),
    variant(
        "row-by-row",
        "top_k_top_p_filtering",
        """
        def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
            rows = logits.reshape(-1, logits.shape[-1])
            out = torch.full_like(rows, float("-inf"))
            for row, target in zip(rows, out):
                best = row.argsort(descending=True)
                if 0 < top_k:
                    best = best[:top_k]
                probs, mass = row[best].double().softmax(-1).tolist(), 0.0
                for token, prob in zip(best.tolist(), probs):
                    target[token] = row[token]
                    mass += prob
                    if top_p < 1 and mass >= top_p:
                        break
            return out.reshape(logits.shape)
        """,
    ),
    trivial(
        "filter-input",
        "top_k_top_p_filtering",
        """
        def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
            return logits
        """,
    ),
    trivial(
        "filter-zeros",
        "top_k_top_p_filtering",
        """
        def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
            return torch.zeros_like(logits)
        """,
    ),
]

TOKEN = [
    variant(
        "searched",
        "sample_token",
        """
        def sample_token(probs, u):
            u = torch.as_tensor(u, device=probs.device).double()
            edges = torch.cumsum(probs.double(), dim=-1)
            found = torch.searchsorted(edges.contiguous(), u.unsqueeze(-1).contiguous(), right=True).squeeze(-1)
            possible = torch.arange(probs.shape[-1], device=probs.device).expand_as(probs)
            return torch.minimum(found, possible.masked_fill(probs <= 0, -1).amax(-1))
        """,
    ),
    variant(
        "first-sum-above",
        "sample_token",
        """
        def sample_token(probs, u):
            if not isinstance(u, torch.Tensor):
                u = torch.tensor(u, device=probs.device)
            probs = probs.float()
            above = (probs.cumsum(dim=-1) > u.unsqueeze(-1).float()) & (probs > 0)
            nothing = ~above.any(dim=-1, keepdim=True)
            last = probs.shape[-1] - 1 - (probs > 0).flip(-1).int().argmax(-1)
            return torch.where(nothing.squeeze(-1), last, above.int().argmax(-1))
        """,
    ),
    variant(
        "row-by-row-token",
        "sample_token",
        """
        def sample_token(probs, u):
            u = torch.as_tensor(u)
            rows, draws = probs.reshape(-1, probs.shape[-1]).tolist(), u.reshape(-1).tolist()
            tokens = []
            for row, draw in zip(rows, draws):
                mass = 0.0
                for token, prob in enumerate(row):
                    if prob > 0:
                        chosen, mass = token, mass + prob
                        if draw < mass:
                            break
                tokens.append(chosen)
            return torch.tensor(tokens, device=probs.device).reshape(u.shape)
        """,
    ),
    variant(
        "divided-by-the-sum",
        "sample_token",
        edit(
            "probs.double().cumsum(-1)", "(probs.double() / probs.double().sum(-1, keepdim=True)).cumsum(-1)"
        ),
    ),
    trivial(
        "token-zeros",
        "sample_token",
        """
        def sample_token(probs, u):
            return torch.zeros(probs.shape[:-1], dtype=torch.int64)
        """,
    ),
    trivial(
        "token-ones",
        "sample_token",
        """
        def sample_token(probs, u):
            return torch.ones(probs.shape[:-1], dtype=torch.int64, device=probs.device)
        """,
    ),
]

VERDICT = [
    variant(
        "all-at-once",
        "verify_draft",
        """
        def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
            K = draft_tokens.shape[0]
            at = torch.arange(K, device=draft_tokens.device)
            ratio = target_probs[at, draft_tokens] / draft_probs[at, draft_tokens]
            kept = u_accept < torch.clamp(ratio, max=1.0)
            n = int(torch.cumprod(kept.int(), dim=0).sum())
            q = torch.cat([draft_probs, torch.zeros_like(draft_probs[:1])])[n]
            rest = torch.relu(target_probs[n] - q)
            last = sample_token(rest / rest.sum(), u_sample)
            return torch.cat((draft_tokens[:n], last.reshape(1)))
        """,
    ),
    variant(
        "products-compared",
        "verify_draft",
        """
        def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
            out = []
            for p, q, x, u in zip(target_probs[:-1], draft_probs, draft_tokens.tolist(), u_accept):
                if u * q[x] < p[x]:
                    out.append(x)
                else:
                    out.append(int(sample_token(torch.where(p > q, p - q, 0) / (p - q).clamp_min(0).sum(), u_sample)))
                    break
            else:
                out.append(int(sample_token(target_probs[-1], u_sample)))
            return torch.tensor(out, device=draft_tokens.device)
        """,
    ),
    variant(
        "own-inversion",
        "verify_draft",
        """
        def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
            n, K = 0, len(draft_tokens)
            while n < K:
                x = int(draft_tokens[n])
                if float(u_accept[n]) >= float(target_probs[n, x]) / float(draft_probs[n, x]):
                    break
                n += 1
            weights = target_probs[n].double()
            if n < K:
                weights = torch.maximum(weights - draft_probs[n].double(), torch.zeros_like(weights))
            weights, mass, goal = weights.tolist(), 0.0, float(u_sample) * float(weights.sum())
            for token, weight in enumerate(weights):
                if weight > 0:
                    last, mass = token, mass + weight
                    if mass > goal:
                        break
            return torch.cat([draft_tokens[:n], draft_tokens.new_tensor([last])])
        """,
    ),
    trivial(
        "verdict-guesses",
        "verify_draft",
        """
        def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
            return draft_tokens
        """,
    ),
    trivial(
        "verdict-zeros",
        "verify_draft",
        """
        def verify_draft(target_probs, draft_probs, draft_tokens, u_accept, u_sample):
            return torch.zeros_like(draft_tokens)
        """,
    ),
]

TEXT = [
    variant(
        "draft-sees-the-last-token",
        "speculative_generate",
        edit("draft(text)[-1]", "draft(text[-1:])[-1]"),
    ),
    variant(
        "draft-forgets-the-prompt",
        "speculative_generate",
        edit("draft(text)[-1]", "draft(text[len(prompt) - 1 :])[-1]"),
    ),
    variant(
        "fewer-guesses-at-the-end",
        "speculative_generate",
        """
        def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
            out, end = prompt.tolist(), len(prompt) + max_new_tokens
            while len(out) < end:
                K, guesses, q = min(num_draft, end - len(out)), [], []
                for _ in range(K):
                    q.append(draft(torch.tensor(out + guesses))[-1])
                    guesses.append(int(sample_token(q[-1], uniform())))
                p = target(torch.tensor(out + guesses))[-K - 1 :]
                u = torch.tensor([uniform() for _ in range(K)], dtype=torch.float64)
                last = torch.tensor(uniform(), dtype=torch.float64)
                out += verify_draft(p, torch.stack(q), torch.tensor(guesses), u, last).tolist()
            return torch.tensor(out[:end])
        """,
    ),
    variant(
        "draws-when-needed",
        "speculative_generate",
        """
        def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
            tokens = prompt.clone()
            end = len(prompt) + max_new_tokens
            while len(tokens) < end:
                start, text, q = len(tokens), tokens, []
                while len(q) < num_draft:
                    q.append(draft(text)[-1])
                    text = torch.cat((text, sample_token(q[-1], uniform()).view(1)))
                p = target(text)
                for i in range(num_draft):
                    x = text[start + i]
                    ratio = p[start + i - 1, x] / q[i][x]
                    if ratio < 1 and uniform() >= ratio:
                        rest = (p[start + i - 1] - q[i]).clamp(min=0)
                        tokens = torch.cat((text[: start + i], sample_token(rest / rest.sum(), uniform()).view(1)))
                        break
                else:
                    tokens = torch.cat((text, sample_token(p[-1], uniform()).view(1)))
            return tokens[:end]
        """,
    ),
    variant(
        "verdict-draws-first",
        "speculative_generate",
        edit(
            "text, rows = tokens, []",
            "text, rows, draws = tokens, [], [uniform() for _ in range(num_draft + 1)]",
        ),
        edit("target_probs.new_tensor([uniform() for _ in rows])", "target_probs.new_tensor(draws[1:])"),
        edit("u_accept, uniform())", "u_accept, draws[0])"),
    ),
    variant(
        "other-names",
        "speculative_generate",
        """
        def speculative_generate(target, draft, prompt, max_new_tokens, gamma, uniform):
            x = prompt
            while x.shape[0] < prompt.shape[0] + max_new_tokens:
                n, seq, q = x.shape[0], x, []
                for _ in range(gamma):
                    q += [draft(seq)[-1]]
                    seq = torch.hstack([seq, sample_token(q[-1], uniform())])
                p = target(seq)[n - 1 :]
                u = torch.tensor([uniform() for _ in range(gamma)]).double()
                x = torch.hstack([x, verify_draft(p, torch.vstack(q), seq[n:], u, uniform())])
            return x[: prompt.shape[0] + max_new_tokens]
        """,
    ),
    trivial(
        "text-zeros",
        "speculative_generate",
        """
        def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
            return torch.zeros(len(prompt) + max_new_tokens, dtype=torch.int64)
        """,
    ),
    trivial(
        "text-prompt",
        "speculative_generate",
        """
        def speculative_generate(target, draft, prompt, max_new_tokens, num_draft, uniform):
            return prompt
        """,
    ),
]

VARIANTS = [*FILTER, *TOKEN, *VERDICT, *TEXT]
