"""Models trained in ten steps, compiled and in eager mode, lose alike."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

Script = Callable[..., "subprocess.CompletedProcess[str]"]

TRAINING = """
import copy, torch, counting
counting.count()
torch.manual_seed(0)
F = torch.nn.functional

def losses(model, data, forward):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    found = []
    for _ in range(10):
        optimiser.zero_grad()
        loss = forward(model, *data)
        loss.backward()
        optimiser.step()
        found.append(loss.item())
    return torch.tensor(found)

def compare(model, data, forward, rtol):
    other = copy.deepcopy(model)
    expected = losses(model, data, forward)
    found = losses(other, data, torch.compile(forward, backend="triton-spirv"))
    assert len(set(counting.launched)) >= 8, counting.launched
    assert expected[-1] < expected[0], expected  # it does learn
    torch.testing.assert_close(found, expected, rtol=rtol, atol=1e-5)
    for one, another in zip(other.state_dict().values(), model.state_dict().values(), strict=True):
        torch.testing.assert_close(one, another, rtol=1e-2, atol=1e-3)
"""


@pytest.mark.takes_turns(2, 0)
@pytest.mark.timeout(600)
def test_gpt2_block(script: Script) -> None:
    """Embedding, attention, MLP, layer norms and cross entropy, forward and backward. f32 sums of 768 terms
    in another order differ by 1e-6; ten steps of momentum carry that to 1e-4 of a loss."""
    done = script(TRAINING + """
class Block(torch.nn.Module):
    def __init__(self, width=768, heads=12, words=512, length=64):
        super().__init__()
        self.heads, self.words = heads, torch.nn.Embedding(words, width)
        self.places = torch.nn.Embedding(length, width)
        self.first, self.second, self.last = (torch.nn.LayerNorm(width) for _ in range(3))
        self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)
        self.head = torch.nn.Linear(width, words)

    def forward(self, tokens):
        batch, length = tokens.shape
        x = self.words(tokens) + self.places(torch.arange(length))
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.first(x)).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        x = x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))
        return self.head(self.last(x))

def forward(model, tokens):
    return F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

compare(Block(), (torch.randint(512, (2, 33)),), forward, 1e-4)
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.takes_turns(2, 1)
@pytest.mark.timeout(600)
def test_resnet_block(script: Script) -> None:
    """Convolutions, batch norms with their running statistics, a residual, pooling."""
    done = script(TRAINING + """
class Block(torch.nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, width, 3, stride=2, padding=1, bias=False)
        self.one = torch.nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.two = torch.nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norms = torch.nn.ModuleList(torch.nn.BatchNorm2d(width) for _ in range(3))
        self.head = torch.nn.Linear(width, 10)

    def forward(self, images):
        x = F.relu(self.norms[0](self.stem(images)))
        x = F.relu(self.norms[2](self.two(F.relu(self.norms[1](self.one(x))))) + x)
        return self.head(F.max_pool2d(x, 2).mean((2, 3)))

def forward(model, images, labels):
    return F.cross_entropy(model(images), labels)

compare(Block(), (torch.randn(4, 3, 32, 32), torch.randint(10, (4,))), forward, 1e-3)
""")
    assert done.returncode == 0, done.stderr


def test_numbers_with_gradients(script: Script) -> None:
    """Tensors without dimensions: learned scales and weights of losses, a weighted mean, one of 8 bits."""
    done = script("""
import torch, counting
counting.count()

def agree(f, *inputs):
    found, expected = [], []
    for results, call in ((expected, f), (found, torch.compile(f, backend="triton-spirv"))):
        given = [x.detach().clone().requires_grad_(x.requires_grad) for x in inputs]
        out = call(*given)
        results.append(out.detach())
        if out.requires_grad:
            out.sum().backward()
            results += [x.grad for x in given if x.requires_grad]
    torch.testing.assert_close(found, expected)

x = torch.arange(1., 7.)
half = torch.tensor(.5, requires_grad=True)
agree(lambda x, a: a * x.sum(), x, half)
agree(lambda x, a: torch.exp(-a) * (x * x).mean() + a, x, half)
agree(lambda x, y: x.sum() / y.sum(), x.clone().requires_grad_(), x.clone().requires_grad_())
agree(torch.fmod, torch.tensor(7.5, requires_grad=True), torch.tensor(2.0, requires_grad=True))
agree(lambda x, a: x * a.to(torch.float32), x, torch.tensor(2.).to(torch.float8_e4m3fn))
assert len(counting.launched) >= 8, counting.launched
""")
    assert done.returncode == 0, done.stdout + done.stderr
