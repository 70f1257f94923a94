"""The report in a real browser: it draws, its controls work, it asks nothing of any network."""

import numpy as np
import pytest

from stepsmooth import GridStepSmooth, StepSmooth
from stepsmooth.datasets import make_head_phantom, make_markov_steps
from stepsmooth.report import write

PHONE = {"width": 390, "height": 844}
HOSTILE = '<script>alert(1)</script> & "q" </script><img src=x onerror=alert(2)>.nii.gz'
TISSUES = ("CSF", "GM", "WM")
EASY = {"knots": 90.0, "label_prior": "proportions"}


@pytest.fixture(scope="session")
def reports(browser, tmp_path_factory):
    """A report of each kind, written once."""
    folder = tmp_path_factory.mktemp("reports")
    two = make_head_phantom((24, 28, 24), classes=TISSUES, strip=True, contrasts=["T1w", "T2w"], random_state=0)
    g = GridStepSmooth(3, channel_axis=-1, spacing=two.spacing, **EASY).fit(two.image, mask=two.mask)
    affine = np.diag([*two.spacing, 1.0])
    inputs = [{"name": HOSTILE, "sha256": "0" * 64}]
    write(g, folder / "volume.html", title=HOSTILE, inputs=inputs, affine=affine, names=[HOSTILE, "T2w"])
    flat = make_head_phantom((60, 72), classes=TISSUES, strip=True, random_state=0)
    g = GridStepSmooth(3, spacing=flat.spacing, **EASY).fit(flat.image, mask=flat.mask)
    write(g, folder / "image.html", title=HOSTILE, settings={HOSTILE: HOSTILE})
    trace = make_markov_steps(1500, 3, 2, switching=0.02, noise_variance=0.02, random_state=0)
    m = StepSmooth(3, label_prior="markov").fit(trace.X, trace.y)
    write(m, folder / "signal.html", title=HOSTILE)
    rng = np.random.default_rng(0)
    X = rng.random((150, 2))
    y = np.sin(3 * X[:, 0]) + (np.floor(8 * X).sum(axis=1) % 2) + 0.05 * rng.normal(size=150)
    write(StepSmooth(2, kernel="rbf", tau=0.01).fit(X, y), folder / "points.html", title=HOSTILE)
    return {name: folder / f"{name}.html" for name in ("volume", "image", "signal", "points")}


@pytest.fixture(scope="session")
def desk(visit, reports):
    """Each report opened once on a large screen, where tests use its controls one after the other."""
    opened = {}

    def at(kind, start=None):
        if kind not in opened:
            opened[kind] = visit(reports[kind])
        if start:
            opened[kind].page.click(f"button[data-view={start}]")
            opened[kind].settle()
        return opened[kind]

    return at


def view(page, name):
    return lambda: page.click(f"button[data-view={name}]")


@pytest.mark.parametrize("kind", ["volume", "image", "signal", "points"])
def test_a_page_says_nothing_in_the_console_and_asks_for_no_other_file(desk, reports, kind):
    opened = desk(kind)
    for button in opened.page.locator("button").all():
        button.click()
    opened.settle()
    assert opened.said == []
    assert opened.asked == [reports[kind].as_uri()]


@pytest.mark.parametrize("kind", ["volume", "image", "signal", "points"])
def test_hostile_names_stay_text(desk, kind):
    opened = desk(kind)
    assert opened.page.locator("h1").inner_text() == HOSTILE
    assert opened.page.locator("img[src='x']").count() == 0
    assert opened.page.locator("main script").count() == 0


@pytest.mark.parametrize("kind", ["volume", "image", "signal", "points"])
def test_every_picture_is_whole(desk, kind):
    broken = "[...document.images].filter((i) => !i.complete || !i.naturalWidth).length"
    assert desk(kind).page.evaluate(broken) == 0
    assert desk(kind).page.evaluate("document.images.length") > 4


def test_the_volume_is_drawn(desk):
    opened = desk("volume", "corrected")
    pixels = opened.pixels("#view")
    assert len(np.unique(pixels[..., 0])) > 60
    assert (pixels.max(axis=2) > 60).mean() > 0.1


def test_original_corrected_field_and_labels_are_different_pictures(desk):
    opened = desk("volume", "corrected")
    for name in ("original", "field", "labels", "corrected"):
        assert opened.changes("#view", view(opened.page, name)) > 0.04
        assert opened.page.locator(f"button[data-view={name}]").get_attribute("aria-pressed") == "true"
        assert opened.page.locator("#view").get_attribute("data-shown") == name


def test_labels_wear_the_colours_of_their_levels(desk):
    opened = desk("volume", "corrected")
    opened.page.click("button[data-view=labels]")
    opened.page.locator("#strength input").fill("1")
    opened.settle()
    pixels = opened.pixels("#view").reshape(-1, 3)
    for colour in ((0, 114, 178), (230, 159, 0), (0, 158, 115)):
        assert (abs(pixels - colour).max(axis=1) < 20).mean() > 0.01


def test_the_opacity_of_the_labels_can_be_chosen(desk):
    opened = desk("volume", "corrected")
    opened.page.click("button[data-view=labels]")
    assert opened.changes("#view", lambda: opened.page.locator("#strength input").fill("0.2")) > 0.1


def test_keys_and_the_choice_of_a_channel_work(desk):
    opened = desk("volume", "corrected")
    opened.page.keyboard.press("1")
    assert opened.page.locator("#view").get_attribute("data-shown") == "original"
    assert opened.changes("#view", lambda: opened.page.select_option("#channel", "1")) > 0.1


def test_a_click_reads_the_values_at_a_voxel(desk):
    opened = desk("volume", "corrected")
    box = opened.page.locator("#view").bounding_box()
    before = opened.page.locator("#readout").inner_text()
    opened.page.mouse.click(box["x"] + 0.2 * box["width"], box["y"] + 0.4 * box["height"])
    opened.settle()
    after = opened.page.locator("#readout").inner_text()
    assert after != before
    assert "mm" in after
    assert "corrected" in after


def test_without_webgl_the_page_says_so_and_has_its_slices(visit, reports):
    off = "HTMLCanvasElement.prototype.getContext = function () { return null; };"
    opened = visit(reports["volume"], script=off)
    assert "slices below" in opened.page.locator("#message").inner_text()
    assert opened.page.locator(".slices img:visible").count() >= 12
    assert opened.said == []


def test_the_slider_uncovers_the_corrected_image(desk):
    opened = desk("image", "wipe")
    slide = opened.page.locator("#wipe")
    slide.fill("0")
    corrected = opened.pixels("#stage")
    assert opened.changes("#stage", lambda: slide.fill("1000")) > 0.1
    original = opened.pixels("#stage")
    for name, seen in (("original", original), ("corrected", corrected)):
        opened.page.click(f"button[data-view={name}]")
        # The handle of the slider covers a little of the image.
        assert (abs(opened.pixels("#stage") - seen).max(axis=2) > 12).mean() < 0.06


def test_the_layers_of_an_image_are_different_pictures(desk):
    opened = desk("image", "wipe")
    opened.page.locator("#wipe").fill("200")
    for name in ("original", "corrected", "field", "labels"):
        assert opened.changes("#stage", view(opened.page, name)) > 0.04


def trace_range(page):
    return [float(page.locator("#view").get_attribute(f"data-{end}")) for end in ("from", "to")]


def test_the_trace_is_drawn_in_the_colours_of_its_levels(desk):
    opened = desk("signal", "recorded")
    pixels = opened.pixels("#view").reshape(-1, 3)
    for colour in ((64, 149, 197), (236, 183, 64), (64, 182, 150)):  # at three quarters of their strength
        assert (abs(pixels - colour).max(axis=1) < 24).sum() > 60


def test_the_trace_zooms_and_moves_by_buttons_wheel_drag_and_keys(desk):
    opened = desk("signal", "recorded")
    page = opened.page
    page.click("button[data-zoom=all]")
    opened.settle()
    whole = trace_range(page)
    canvas = page.locator("#view")
    box = canvas.bounding_box()

    def wait():
        opened.settle()
        return trace_range(page)

    page.click("button[data-zoom=in]")
    half = wait()
    assert np.isclose(np.diff(half), np.diff(whole) / 2)
    page.mouse.move(box["x"] + 600, box["y"] + 100)
    page.mouse.wheel(0, -300)
    closer = wait()
    assert np.diff(closer) < np.diff(half)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 100, steps=4)
    page.mouse.up()
    moved = wait()
    assert moved[0] > closer[0]
    assert np.isclose(np.diff(moved), np.diff(closer))
    canvas.focus()
    page.keyboard.press("ArrowLeft")
    assert wait()[0] < moved[0]
    page.click("button[data-zoom=all]")
    assert np.allclose(wait(), whole)


def test_a_stretch_is_chosen_on_the_strip(desk):
    opened = desk("signal", "recorded")
    page = opened.page
    page.click("button[data-zoom=all]")
    opened.settle()
    whole = trace_range(page)
    page.locator("#overview").scroll_into_view_if_needed()
    box = page.locator("#overview").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 420, box["y"] + 20, steps=4)
    page.mouse.up()
    opened.settle()
    low, high = trace_range(page)
    assert 0.1 < (high - low) / (whole[1] - whole[0]) < 0.15


def test_parts_of_the_trace_can_be_left_out_and_the_smooth_part_taken_away(desk):
    opened = desk("signal", "recorded")
    for layer in ("points", "steps", "smooth"):
        assert opened.changes("#view", lambda layer=layer: opened.page.uncheck(f"[data-layer={layer}]")) > 0.003
        opened.page.check(f"[data-layer={layer}]")
    assert opened.changes("#view", view(opened.page, "levelled")) > 0.02


def test_the_pointer_reads_a_sample(desk):
    opened = desk("signal", "recorded")
    page = opened.page
    page.click("button[data-zoom=all]")
    opened.settle()
    page.locator("#view").hover(position={"x": 400, "y": 120})
    assert page.locator("#hint").inner_text().startswith("x 0.")


@pytest.mark.parametrize("kind", ["volume", "image", "signal", "points"])
def test_a_phone_shows_all_of_it_and_has_room_for_fingers(visit, reports, kind):
    opened = visit(reports[kind], viewport=PHONE, device_scale_factor=2, is_mobile=True, has_touch=True)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    for button in opened.page.locator("button:visible").all():
        assert button.bounding_box()["height"] >= 34
    if kind in ("volume", "signal"):
        assert len(np.unique(opened.pixels("#view").reshape(-1, 3), axis=0)) > 60
    assert opened.said == []


@pytest.mark.parametrize("kind", ["volume", "image", "signal"])
def test_on_paper_pictures_take_the_place_of_the_viewer(visit, reports, kind):
    page = visit(reports[kind]).page
    page.emulate_media(media="print")
    assert not page.locator(".controls").is_visible()
    assert page.locator(".slices img, .paper img").first.is_visible()
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert 2 <= pdf.count(b"/Type /Page\n") <= 12


@pytest.mark.parametrize("kind", ["volume", "signal"])
def test_without_scripts_the_pictures_are_there(visit, reports, kind):
    page = visit(reports[kind], java_script_enabled=False).page
    assert page.locator(".slices img:visible, noscript img:visible").count() >= 1
    assert page.locator(".verdict").count() == 2
