"""A packed run says what its journals say, and gives them back byte for byte."""

import json
import random
import shutil
import sys
from dataclasses import replace

import pytest
from draftproof.errors import UserError
from draftproof.evals.attempt import Attempt, Drafts, EndpointError, ErrorType, Stage, Timing, Usage
from draftproof.evals.comparing.pairing import operands, pair_arms
from draftproof.evals.comparing.summary import summarise
from draftproof.evals.judging import judged
from draftproof.evals.judging.derived import derive
from draftproof.evals.plan import Mode
from draftproof.evals.runs import packed_file, packed_run, packing, stored_run
from draftproof.evals.runs.attempt_columns import StoredRequest
from draftproof.evals.runs.merge import merge_runs
from draftproof.evals.runs.new_run import refuse_foreign
from draftproof.evals.runs.packed_run import PackedRun
from draftproof.evals.runs.record import Record
from draftproof.evals.runs.stored_run import open_run
from draftproof.reports.frames import render_frames
from draftproof.reports.html import render_html
from draftproof.reports.sample import render_repeat, render_sample
from hypothesis import given
from hypothesis import strategies as st

from ...reports.runs import three_arms
from ...reports.test_reports import hostile_run, make_run
from ...scripted import ScriptedServer, error
from ..build import RIGHT, attempt, plan, record, sample
from ..scripted_runs import ask, make_plan, right, write_suite, wrong
from .test_redaction import redacted_run
from .test_stored_run import RUNS, written
